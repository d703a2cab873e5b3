import type { LibraryPage } from './library.ts'
import { escapeHtml, htmlDocument } from '../../html.ts'

/** The headers of the documentation's pages, which need no script and nothing from another host. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=300',
}

/** The content of a page within the layout. */
export interface Shown {
  readonly title: string
  readonly html: string
  /** The open page, if it is in the library. */
  readonly page?: LibraryPage | undefined
  readonly query?: string
}

/** Renders a page of the documentation with navigation, search, and links to the previous and next pages. */
export function layout(shown: Shown, all: readonly LibraryPage[]): string {
  const { title, html, page, query = '' } = shown
  const markdown = page?.address === '/docs' ? '/docs/index' : page?.address
  const alternate =
    markdown === undefined
      ? ''
      : `\n<link rel="alternate" type="text/markdown" href="${markdown}.md">`
  return htmlDocument({
    title,
    head: `<link rel="stylesheet" href="/docs.css">${alternate}`,
    body: `<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="mark" href="/docs">Intercept <span>documentation</span></a>
<form role="search" action="/docs/search"><label for="q">Search the documentation</label>
<input id="q" name="q" type="search" value="${escapeHtml(query)}" placeholder="Search"><button>Search</button></form>
<a href="/">Dashboard</a>
</header>
<div class="frame">
<nav aria-label="Documentation">
${navigation(all, page)}
</nav>
<main id="content">
${html}
${page ? neighbours(all, page) : ''}
</main>
</div>`,
  })
}

function navigation(all: readonly LibraryPage[], open: LibraryPage | undefined): string {
  const sections = Map.groupBy(
    all.filter(({ section }) => section !== 'Refusals'),
    ({ section }) => section,
  )
  return [...sections]
    .map(([section, pages]) => {
      const links = pages.map(({ address, title, name }) => {
        const here = name === open?.name ? ' aria-current="page"' : ''
        return `<li><a href="${address}"${here}>${escapeHtml(title)}</a></li>`
      })
      const isOpen = section === 'Start' || pages.some(({ name }) => name === open?.name)
      return `<details${isOpen ? ' open' : ''}><summary>${section}</summary><ul>${links.join('')}</ul></details>`
    })
    .concat(
      '<ul class="more"><li><a href="/problems">Every refusal</a></li><li><a href="/docs/api">The API, route by route</a></li></ul>',
    )
    .join('\n')
}

function neighbours(all: readonly LibraryPage[], { name }: LibraryPage): string {
  const at = all.findIndex((page) => page.name === name)
  const link = (page: LibraryPage | undefined, word: string): string =>
    page === undefined || page.section === 'Refusals'
      ? '<span></span>'
      : `<a href="${page.address}"><small>${word}</small>${escapeHtml(page.title)}</a>`
  if (all[at]?.section === 'Refusals') {
    return '<p class="foot"><a href="/problems">Every refusal</a></p>'
  }
  return `<nav class="neighbours" aria-label="Pages before and after">${link(all[at - 1], 'Before')}${link(all[at + 1], 'Next')}</nav>`
}
