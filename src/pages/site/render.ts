import { escapeHtml } from '../../html.ts'
import { posix } from 'node:path'
import type { Tokens } from 'marked'
import { addressOf } from './navigation.ts'

/** A heading of a page: links lead to its id, and the search looks at its text. */
export interface Heading {
  readonly level: number
  readonly text: string
  readonly id: string
}

export interface RenderedPage {
  readonly html: string
  readonly title: string
  readonly headings: readonly Heading[]
}

/** The prefix of links to files that nodes do not serve. */
const repository = 'https://github.com/interceptd/intercept/blob/main/'

/** Renders a page of docs/; only Markdown syntax becomes markup. */
export async function renderPage(page: string, text: string): Promise<RenderedPage> {
  // marked is loaded with the first page, because a node may never be asked for one.
  const { Marked } = await import('marked')
  const headings: Heading[] = []
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
      heading(token: Tokens.Heading) {
        const plain = token.text.replaceAll(/[`*]/g, '')
        const id = slugOf(plain, headings)
        headings.push({ level: token.depth, text: plain, id })
        const inner = this.parser.parseInline(token.tokens)
        return `<a id="${id}"></a><h${token.depth}>${inner}</h${token.depth}>\n`
      },
      link(token: Tokens.Link) {
        return `<a href="${escapeHtml(linkFrom(page, token.href))}">${this.parser.parseInline(token.tokens)}</a>`
      },
      image: (token: Tokens.Image) =>
        `<img src="${escapeHtml(linkFrom(page, token.href))}" alt="${escapeHtml(token.text)}" loading="lazy">`,
      // Text after the language tells tests how to treat the block; readers need not see it.
      code: (token: Tokens.Code) =>
        `<pre tabindex="0"><code>${escapeHtml(token.text)}</code></pre>\n`,
      table(token: Tokens.Table) {
        const cell = (tag: 'th' | 'td') => (one: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`
        const head = token.header.map(cell('th')).join('')
        const rows = token.rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`)
        return `<div class="wide" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`
      },
    },
  })
  const html = await marked.parse(text)
  return { html, title: headings[0]?.text ?? page, headings }
}

/** Converts a link in a file of docs/ into an address on a node, or on GitHub for a file that nodes do not serve. */
export function linkFrom(page: string, href: string): string {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const [path = '', fragment] = href.split('#')
  const target = posix.join('docs', posix.dirname(page), path)
  const anchor = fragment === undefined ? '' : `#${fragment}`
  if (!target.startsWith('docs/')) return repository + target + anchor
  const below = target.slice('docs/'.length)
  if (below.startsWith('pictures/')) return `/docs/${below}`
  if (below.startsWith('decisions/') || !below.endsWith('.md')) return repository + target + anchor
  return addressOf(below.replace(/\.md$/, '')) + anchor
}

function slugOf(text: string, before: readonly Heading[]): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-')
  const same = before.filter(({ id }) => id === slug || id.startsWith(`${slug}-`)).length
  return same === 0 ? slug : `${slug}-${same}`
}
