/** The little of Markdown that our own pages use, as HTML: headings, paragraphs, lists of `*`, `code`, *emphasis*. */
export function renderMarkdown(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((block) => renderBlock(block.trim()))
    .filter((block) => block !== '')
    .join('\n')
}

function renderBlock(block: string): string {
  if (block === '') return ''
  const [, marks, title] = /^(#{1,3}) (.*)$/.exec(block) ?? []
  if (marks !== undefined)
    return `<h${marks.length}>${renderInline(title ?? '')}</h${marks.length}>`
  if (!block.startsWith('* ')) return `<p>${renderInline(block)}</p>`
  const items = block
    .slice(2)
    .split(/\n\* /)
    .map((item) => `<li>${renderInline(item)}</li>`)
  return `<ul>\n${items.join('\n')}\n</ul>`
}

function renderInline(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`')
        ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
        : escapeHtml(part).replace(/\*([^*\s][^*]*)\*/g, '<em>$1</em>'),
    )
    .join('')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
