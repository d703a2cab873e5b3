/**
 * The little of Markdown that our own pages use, as HTML: headings, paragraphs, lists of `*` and of numbers, tables, code
 * between fences or indented, `code`, *emphasis*, **weight**, links to guides and to https.
 */
export function renderMarkdown(text: string): string {
  return blocksOf(text)
    .map(renderBlock)
    .filter((block) => block !== '')
    .join('\n')
}

// Blank lines part blocks, except between fences.
function blocksOf(text: string): string[] {
  return text
    .split(/^(```[^\n]*\n[\s\S]*?^```)$/m)
    .flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n{2,}/)))
}

function renderBlock(given: string): string {
  if (given.startsWith('```')) return code(given.split('\n').slice(1, -1).join('\n'))
  if (given.replace(/^\n/, '').startsWith('    '))
    return code(given.replaceAll(/^ {4}/gm, '').trim())
  const block = given.trim()
  if (block === '') return ''
  const [, marks, title] = /^(#{1,3}) (.*)$/.exec(block) ?? []
  if (marks !== undefined)
    return `<h${marks.length}>${renderInline(title ?? '')}</h${marks.length}>`
  if (block.startsWith('* ')) return list('ul', block.slice(2).split(/\n\* /))
  if (block.startsWith('1. ')) return list('ol', block.slice(3).split(/\n\d+\. /))
  if (block.startsWith('|')) return table(block.split('\n'))
  return `<p>${renderInline(block)}</p>`
}

function code(text: string): string {
  return `<pre><code>${escapeHtml(text)}</code></pre>`
}

function list(tag: 'ul' | 'ol', items: readonly string[]): string {
  const lines = items.map((item) => `<li>${renderInline(item)}</li>`)
  return `<${tag}>\n${lines.join('\n')}\n</${tag}>`
}

function table(lines: readonly string[]): string {
  const [head = '', , ...rows] = lines
  const row = (line: string, tag: 'th' | 'td'): string => {
    const cells = line.split('|').slice(1, -1)
    return `<tr>${cells.map((cell) => `<${tag}>${renderInline(cell.trim())}</${tag}>`).join('')}</tr>`
  }
  const body = rows.map((line) => row(line, 'td')).join('\n')
  return `<table>\n<thead>${row(head, 'th')}</thead>\n<tbody>\n${body}\n</tbody>\n</table>`
}

function renderInline(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? `<code>${escapeHtml(part.slice(1, -1))}</code>` : renderWords(part),
    )
    .join('')
}

function renderWords(text: string): string {
  return escapeHtml(text)
    .replace(/\*\*([^*\s][^*]*)\*\*/g, '<strong>$1</strong>')
    .replace(/\*([^*\s][^*]*)\*/g, '<em>$1</em>')
    .replace(/\[([^\]]+)\]\(([a-z0-9-]+)\.md\)/g, '<a href="/guides/$2">$1</a>')
    .replace(/\[([^\]]+)\]\((https:[^)\s]+)\)/g, '<a href="$2">$1</a>')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
