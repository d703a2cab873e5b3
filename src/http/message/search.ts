/** The query of a request's address, without its question mark; a value may contain more of them (RFC 3986, section 3.4). */
export function searchOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}
