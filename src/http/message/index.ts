/**
 * Reads and writes parts of messages. This entry file is separate from `http/index.ts`, so that a command that only
 * reads a header does not load the server.
 */
export { cookiesWith, cookieValues, hostCookie } from './cookies.ts'
export { foldHeaderName, isReservedHeader, originHeaders } from './header-rules.ts'
export { nodeHttp } from './node-http.ts'
export { searchOf } from './search.ts'
export { sourceOf } from './source.ts'
