// A base for parsing a path as a browser would; nothing is ever sent there.
const anywhere = 'http://local.invalid'
// The path is kept in the sign-in's cookie, whose size browsers limit.
const maxLength = 1000

/**
 * Returns a path, resolved as a browser would, or '/' if it might lead to another origin (RFC 9700, section 4.11) or
 * has more than `longest` characters.
 */
export function localPath(text: string | undefined, longest = maxLength): string {
  if (text === undefined || text.length > longest) return '/'
  if (!/^\/(?![/\\])[\x21-\x5B\x5D-\x7E]*$/.test(text)) return '/'
  // At the front, encoded slashes, backslashes, control characters or dots can make some URL parsers read "//".
  if (/^\/(?:%(?:2f|5c|0[0-9a-f]|1[0-9a-f]|7f)|\.)/i.test(text)) return '/'
  if (!URL.canParse(text, anywhere)) return '/'
  const url = new URL(text, anywhere)
  if (url.origin !== anywhere || url.pathname.startsWith('//')) return '/'
  return url.pathname + url.search + url.hash
}
