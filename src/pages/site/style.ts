/** The style of the documentation: the dashboard's colors, without its scripts and fonts. */
export const siteStyle = `:root { color-scheme: light dark;
  --paper: light-dark(#fbfaf7, #0f1319); --surface: light-dark(#fff, #161c23); --sunken: light-dark(#f4f2ee, #090d12);
  --ink: light-dark(#171f28, #ecebe7); --muted: light-dark(#565d66, #a3aab2); --accent: light-dark(#214f7f, #86beee);
  --accent-soft: light-dark(#e8f0f8, #18293a); --hairline: light-dark(#dedcd7, #2c323b) }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 'Instrument Sans', system-ui, sans-serif }
a { color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.skip { position: absolute; left: -100rem }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem }
header { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; padding: .75rem 1.25rem; border-bottom: 1px solid var(--hairline); background: var(--surface) }
.mark { font-weight: 650; color: var(--ink); text-decoration: none; margin-right: auto }
.mark span { color: var(--muted); font-weight: 400 }
form { display: flex; gap: .375rem; align-items: center }
form label { position: absolute; left: -100rem }
input, button { font: inherit; color: inherit; border: 1px solid light-dark(#7f858c, #737b86); border-radius: .375rem; background: var(--paper); padding: .25rem .625rem; min-height: 2.125rem }
input { width: min(18rem, 50vw) }
.frame { display: grid; grid-template-columns: 16rem minmax(0, 46rem); gap: 2.5rem; max-width: 72rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
.frame > nav { font-size: .9375rem }
.frame > nav ul { list-style: none; margin: .25rem 0 .75rem; padding: 0 }
.frame > nav a { display: block; padding: .1875rem .625rem; border-radius: .375rem; color: inherit; text-decoration: none }
.frame > nav a:hover { background: var(--sunken) }
.frame > nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600 }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; color: var(--muted) }
h1 { font-size: 1.875rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.01em }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem }
h3 { font-size: 1.0625rem; margin: 1.5rem 0 .25rem }
p, ul, ol { margin: .5rem 0 .75rem }
ul, ol { padding-left: 1.375rem }
li { margin: .25rem 0 }
code { font: .875em 'IBM Plex Mono', ui-monospace, monospace; background: var(--sunken); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
pre { overflow-x: auto; margin: .75rem 0; border: 1px solid var(--hairline); border-radius: .5rem; background: var(--sunken) }
pre code { display: block; padding: .875em 1em; background: none; overflow-wrap: normal }
.wide { overflow-x: auto; margin: .75rem 0 }
table { border-collapse: collapse; font-size: .9375rem }
th, td { text-align: left; vertical-align: top; padding: .4375rem .875rem .4375rem 0; border-bottom: 1px solid var(--hairline) }
th { color: var(--muted); font-weight: 600; white-space: nowrap }
td code { white-space: nowrap }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0 }
.neighbours { display: flex; justify-content: space-between; gap: 1rem; margin-top: 3rem; border-top: 1px solid var(--hairline); padding-top: 1rem }
.neighbours small { display: block; color: var(--muted) }
.foot { margin-top: 3rem }
@media (max-width: 52rem) { .frame { grid-template-columns: minmax(0, 1fr) } }
@media print { header, .frame > nav, .neighbours { display: none } .frame { display: block } }
`
