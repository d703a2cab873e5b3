import type { LibraryPage } from './library.ts'

export interface Found {
  readonly page: LibraryPage
  /** The text around the query's first word, or the page's beginning if the text lacks that word. */
  readonly excerpt: string
}

const maxTerms = 8
const maxFound = 20
const around = 90
const maxCounted = 9

/**
 * Finds up to `maxFound` pages that contain each of the query's first `maxTerms` words, best first: titles count most,
 * then headings, then text.
 */
export function searchPages(pages: Iterable<LibraryPage>, query: string): Found[] {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, maxTerms)
  if (terms.length === 0) return []
  return [...pages]
    .map((page) => ({ page, score: scoreOf(page, terms) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, maxFound)
    .map(({ page }) => ({ page, excerpt: excerptOf(page.markdown, terms) }))
}

function scoreOf(page: LibraryPage, terms: readonly string[]): number {
  const title = `${page.title} ${page.name}`.toLowerCase()
  const headings = page.headings
    .map(({ text }) => text)
    .join(' ')
    .toLowerCase()
  const text = page.markdown.toLowerCase()
  let score = 0
  for (const term of terms) {
    const here =
      (title.includes(term) ? 30 : 0) +
      (headings.includes(term) ? 10 : 0) +
      countOf(text, term, maxCounted)
    if (here === 0) return 0
    score += here
  }
  return score
}

/** Counts a word in a text, up to a maximum: anyone may search for a single letter, which is everywhere. */
function countOf(text: string, term: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(term); at !== -1 && count < max; count++) {
    at = text.indexOf(term, at + term.length)
  }
  return count
}

function excerptOf(markdown: string, terms: readonly string[]): string {
  const plain = markdown.replaceAll(/[#*`|]/g, ' ').replaceAll(/\s+/g, ' ')
  const at = Math.max(0, plain.toLowerCase().indexOf(terms[0] ?? ''))
  const from = Math.max(0, at - around)
  const text = plain.slice(from, at + around).trim()
  return `${from > 0 ? '… ' : ''}${text}${at + around < plain.length ? ' …' : ''}`
}
