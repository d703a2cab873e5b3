import { Problem, problems, type ProblemCode } from '../errors.ts'
import type { App, AppReply } from '../http/index.ts'
import { layout, pageHeaders, type Shown } from './site/layout.ts'
import type { Library, LibraryPage } from './site/library.ts'
import { escapeHtml } from '../html.ts'
import { searchPages } from './site/search.ts'
import { siteStyle } from './site/style.ts'

const textType = 'text/plain; charset=utf-8'
const markdownType = 'text/markdown; charset=utf-8'
const maxQuery = 200

/** Serves the documentation at /docs, guides at /guides and a page per refusal at /problems, in a common layout. */
export function registerSite(app: App, library: Library): void {
  const show = async (reply: AppReply, shown: Shown): Promise<AppReply> =>
    reply.headers(pageHeaders).send(layout(shown, [...(await library.pages()).values()]))

  async function showPage(reply: AppReply, name: string): Promise<AppReply> {
    const page = await library.find(name.replace(/\.md$/, ''))
    if (page === undefined) throw new Problem('not_found')
    if (name.endsWith('.md')) return reply.type(markdownType).send(page.markdown)
    return await show(reply, { title: page.title, html: page.html, page })
  }

  app.get('/docs', async (_request, reply) => await showPage(reply, 'index'))
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const name = request.params['*']
    // Guides and problems have their own addresses, so they are not found here.
    if (/^(guides|problems)\//.test(name)) throw new Problem('not_found')
    return await showPage(reply, name)
  })
  app.get<{ Params: { name: string } }>('/guides/:name', async (request, reply) => {
    return await showPage(reply, `guides/${request.params.name}`)
  })
  app.get('/guides', async (_request, reply) => {
    const guides = await sectionOf(library, (page) => page.name.startsWith('guides/'))
    return await show(reply, { title: 'Guides', html: listOf('Guides', guides) })
  })
  app.get<{ Params: { name: string } }>('/docs/pictures/:name', async (request, reply) => {
    const { name } = request.params
    const picture = await library.picture(name)
    if (picture === undefined) throw new Problem('not_found')
    const type = name.endsWith('.svg') ? 'image/svg+xml' : 'image/png'
    return reply.headers(pageHeaders).type(type).send(picture)
  })
  app.get<{ Querystring: { q?: string | string[] } }>('/docs/search', async (request, reply) => {
    const query = String(request.query.q ?? '').slice(0, maxQuery)
    return await show(reply, { title: 'Search', html: await found(library, query), query })
  })
  app.get('/docs.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'no-cache').send(siteStyle),
  )
  app.get('/llms.txt', async (_request, reply) => reply.type(textType).send(await index(library)))
  registerProblems(app, { show, showPage })
}

function registerProblems(
  app: App,
  {
    show,
    showPage,
  }: {
    readonly show: (reply: AppReply, shown: Shown) => Promise<AppReply>
    readonly showPage: (reply: AppReply, name: string) => Promise<AppReply>
  },
): void {
  app.get<{ Params: { code: string } }>('/problems/:code', async (request, reply) => {
    return await showPage(reply, `problems/${request.params.code}`)
  })
  app.get('/problems', async (_request, reply) => {
    const rows = (Object.keys(problems) as ProblemCode[]).toSorted().map((code) => {
      const { status, title } = problems[code]
      return `<li><a href="/problems/${code}"><code>${code}</code></a> ${status}: ${escapeHtml(title)}</li>`
    })
    const html = `<h1>Every refusal</h1>\n<ul>\n${rows.join('\n')}\n</ul>`
    return await show(reply, { title: 'Every refusal', html })
  })
}

async function sectionOf(
  library: Library,
  belongs: (page: LibraryPage) => boolean,
): Promise<LibraryPage[]> {
  return [...(await library.pages()).values()].filter(belongs)
}

function listOf(title: string, pages: readonly LibraryPage[]): string {
  const items = pages.map(
    (page) => `<li><a href="${page.address}">${escapeHtml(page.title)}</a></li>`,
  )
  return `<h1>${title}</h1>\n<ul>\n${items.join('\n')}\n</ul>`
}

async function found(library: Library, query: string): Promise<string> {
  const results = searchPages((await library.pages()).values(), query)
  const items = results.map(
    ({ page, excerpt }) =>
      `<li><a href="${page.address}">${escapeHtml(page.title)}</a><br>${escapeHtml(excerpt)}</li>`,
  )
  const said = query.trim() === '' ? 'Type a word above.' : 'No page holds all of these words.'
  return `<h1>Search</h1>\n${items.length === 0 ? `<p>${said}</p>` : `<ol>\n${items.join('\n')}\n</ol>`}`
}

/** Renders the index for language models (llmstxt.org): a title, a sentence, and links to the Markdown of the pages. */
async function index(library: Library): Promise<string> {
  const pages = await sectionOf(library, ({ section }) => section !== 'Refusals')
  const sections = Map.groupBy(pages, ({ section }) => section)
  const lines = [
    '# Intercept',
    '',
    '> A self-hosted access layer for APIs: keys, people, company sign-in, directories, signed webhooks.',
  ]
  for (const [section, members] of sections) {
    lines.push('', `## ${section}`, '')
    for (const { title, address } of members) {
      lines.push(`- [${title}](${address === '/docs' ? '/docs/index' : address}.md)`)
    }
  }
  return `${lines.join('\n')}\n`
}
