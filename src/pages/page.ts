/** How long a page may be kept. */
export const caching = 'public, max-age=3600'
/** The headers of our own pages: nothing on them needs a script, a picture or another host. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': caching,
}

/** A page of our own; `foot` leads on. */
export function page(title: string, content: string, foot: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Intercept</title>
<link rel="stylesheet" href="/problems.css">
</head>
<body>
<main>
${content}
<p>${foot}</p>
</main>
</body>
</html>
`
}

/** The look of our own pages. */
export const styles = `:root { color-scheme: light dark; --text: #1a2230; --quiet: #5a6577; --ground: #fbfaf8; --code: #eeece7 }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaee; --quiet: #9aa4b5; --ground: #14171c; --code: #23282f } }
body { margin: 0; background: var(--ground); color: var(--text); font: 1.0625rem/1.6 system-ui, sans-serif }
main { max-width: 40rem; margin: 0 auto; padding: 4rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem }
h2 { font-size: 1rem; margin: 2rem 0 .25rem; color: var(--quiet) }
p, ul, ol { margin: .25rem 0 }
ul, ol { padding-left: 1.25rem }
li { margin: .375rem 0 }
code { font: .9em ui-monospace, monospace; background: var(--code); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
pre { overflow-x: auto; margin: .5rem 0 }
pre code { display: block; padding: .75em 1em; overflow-wrap: normal }
table { border-collapse: collapse; margin: .75rem 0; font-size: .95em }
th, td { text-align: left; vertical-align: top; padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--code) }
th { color: var(--quiet); font-weight: 600 }
a { color: inherit }
`
