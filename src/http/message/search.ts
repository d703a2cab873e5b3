/**
 * Returns the query of a URL without its leading question mark; '' if there is no query. The query may itself contain
 * question marks (RFC 3986, section 3.4).
 */
export function searchOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}
