/** What messages say of themselves. An entry of its own: a command that only looks at a header loads no server. */
export { cookiesWith, cookieValues, hostCookie } from './cookies.ts'
export { foldHeaderName, isReservedHeader, originHeaders } from './header-rules.ts'
export { sourceOf } from './source.ts'
