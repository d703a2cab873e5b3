import { Resolver } from 'node:dns/promises'

/** The result of a TXT look-up: each record's text, or why there is none. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly texts: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly code: string }

/** Looks up the TXT records of a name; never throws. */
export type ResolveTxt = (name: string) => Promise<TxtAnswer>

const timeoutMs = 3_000
const tries = 2
const maxRecords = 100

/** Creates a resolver that asks the system's name servers directly and caches nothing. */
export function createTxtResolver(): ResolveTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    try {
      const records = await resolver.resolveTxt(name)
      // A record may arrive as several strings, which are concatenated (RFC 7208, section 3.3, says so for SPF).
      return {
        kind: 'records',
        texts: records.slice(0, maxRecords).map((parts) => parts.join('')),
      }
    } catch (error) {
      const code = (error as { code?: string }).code ?? 'unknown'
      // ENODATA: the name has other records; ENOTFOUND: the name does not exist.
      return code === 'ENODATA' || code === 'ENOTFOUND'
        ? { kind: 'none' }
        : { kind: 'failed', code }
    }
  }
}
