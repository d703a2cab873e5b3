/**
 * Reads and writes parts of messages. A separate entry file, so that a command that only reads a header loads no
 * server.
 */
export { cookiesWith, cookieValues, hostCookie } from './cookies.ts'
export { foldHeaderName, isReservedHeader, originHeaders } from './header-rules.ts'
export { searchOf } from './search.ts'
export { sourceOf } from './source.ts'
