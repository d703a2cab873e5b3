/** Parses "Name: value" lines; the first invalid line is returned as `wrong`. */
export function parseHeaders(
  text: string,
): { readonly headers: Readonly<Record<string, string>> } | { readonly wrong: string } {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    // A token as defined in RFC 9110, section 5.6.2, then a colon.
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line)
    if (match?.[1] === undefined || match[2] === undefined) return { wrong: line }
    headers[match[1]] = match[2]
  }
  return { headers }
}
