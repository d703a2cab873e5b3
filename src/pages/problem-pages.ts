import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem, problems, type ProblemCode } from '../errors.ts'
import type { App } from '../http/index.ts'
import { renderMarkdown } from './markdown.ts'
import { caching, page, pageHeaders, styles } from './page.ts'

const pagesFolder = join(import.meta.dirname, '..', '..', 'docs', 'problems')

/** One page per refusal, at the address that `type` of every problem answer names. */
export function registerProblemPages(app: App): void {
  app.get<{ Params: { code: string } }>('/problems/:code', async (request, reply) => {
    const { code } = request.params
    if (!isProblem(code)) throw new Problem('not_found')
    const text = await readFile(join(pagesFolder, `${code}.md`), 'utf8')
    return reply.headers(pageHeaders).send(page(problems[code].title, renderMarkdown(text), all))
  })

  app.get('/problems', async (_request, reply) => {
    const items = Object.entries(problems).map(
      ([code, { status, title }]) =>
        `<li><code>${status}</code> <a href="/problems/${code}">${title}</a></li>`,
    )
    const list = `<h1>Refusals</h1>\n<ul>\n${items.join('\n')}\n</ul>`
    return reply.headers(pageHeaders).send(page('Refusals', list, all))
  })

  app.get('/problems.css', async (_request, reply) =>
    reply
      .headers({ 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': caching })
      .send(styles),
  )
}

function isProblem(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code)
}

const all = '<a href="/problems">All refusals</a>'
