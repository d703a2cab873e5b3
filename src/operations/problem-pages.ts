import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem, problems, type ProblemCode } from '../errors.ts'
import type { App } from '../http/index.ts'
import { renderMarkdown } from './markdown.ts'

const pagesFolder = join(import.meta.dirname, '..', '..', 'docs', 'problems')

/** One page per refusal, at the address that `type` of every problem answer names. */
export function hangProblemPages(app: App): void {
  app.get<{ Params: { code: string } }>('/problems/:code', async (request, reply) => {
    const { code } = request.params
    if (!isProblem(code)) throw new Problem('not_found')
    const text = await readFile(join(pagesFolder, `${code}.md`), 'utf8')
    return reply.headers(pageHeaders).send(page(problems[code].title, renderMarkdown(text)))
  })

  app.get('/problems', async (_request, reply) => {
    const items = Object.entries(problems).map(
      ([code, { status, title }]) =>
        `<li><code>${status}</code> <a href="/problems/${code}">${title}</a></li>`,
    )
    const list = `<h1>Refusals</h1>\n<ul>\n${items.join('\n')}\n</ul>`
    return reply.headers(pageHeaders).send(page('Refusals', list))
  })

  app.get('/problems.css', async (_request, reply) =>
    reply
      .headers({ 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': caching })
      .send(styles),
  )
}

const caching = 'public, max-age=3600'
// Nothing on these pages needs a script, a picture or another host.
const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': caching,
}

function isProblem(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code)
}

function page(title: string, content: string): string {
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
<p><a href="/problems">All refusals</a></p>
</main>
</body>
</html>
`
}

const styles = `:root { color-scheme: light dark; --text: #1a2230; --quiet: #5a6577; --ground: #fbfaf8; --code: #eeece7 }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaee; --quiet: #9aa4b5; --ground: #14171c; --code: #23282f } }
body { margin: 0; background: var(--ground); color: var(--text); font: 1.0625rem/1.6 system-ui, sans-serif }
main { max-width: 40rem; margin: 0 auto; padding: 4rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem }
h2 { font-size: 1rem; margin: 2rem 0 .25rem; color: var(--quiet) }
p, ul { margin: .25rem 0 }
ul { padding-left: 1.25rem }
li { margin: .375rem 0 }
code { font: .9em ui-monospace, monospace; background: var(--code); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere }
a { color: inherit }
`
