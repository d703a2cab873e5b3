import { cidrContains, parseCidr, type Cidr, type KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'

/** Refuses with 403 `address_not_allowed` unless the key may be used from this address. */
export function checkAddress(principal: KeyPrincipal, address: string): void {
  if (principal.cidrs === undefined) return
  if (rangesOf(principal.cidrs).some((range) => cidrContains(range, address))) return
  throw new Problem('address_not_allowed', `The API key may not be used from ${address}.`)
}

/** The headers that show that a web page in a browser sent a request. */
export interface BrowserSigns {
  readonly secFetchSite: string | undefined
  readonly accessControlRequestMethod: string | undefined
}

/** Refuses a web page's request with 403 `browser_origin_refused`, unless the target allows browsers. */
export function checkBrowser(
  signs: BrowserSigns,
  method: string,
  target: GuardedTarget | undefined,
): void {
  if (!isFromPage(signs, method) || target?.settings.browsers === true) return
  throw new Problem(
    'browser_origin_refused',
    'This came from a page in a browser, and API keys do not belong there: everybody can read them.',
  )
}

/** Whether a request comes from a web page, or is its CORS preflight (Fetch standard, section 3.2). */
function isFromPage(signs: BrowserSigns, method: string): boolean {
  if (signs.secFetchSite !== undefined && signs.secFetchSite !== 'none') return true
  return method === 'OPTIONS' && signs.accessControlRequestMethod !== undefined
}

// Each call checks its key's ranges, so parsed ranges are cached.
const parsed = new WeakMap<readonly string[], Cidr[]>()

function rangesOf(cidrs: readonly string[]): Cidr[] {
  let ranges = parsed.get(cidrs)
  if (ranges === undefined) {
    ranges = cidrs.map(parseCidr)
    parsed.set(cidrs, ranges)
  }
  return ranges
}
