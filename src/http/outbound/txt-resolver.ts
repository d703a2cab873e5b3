import { Resolver } from 'node:dns/promises'

/** What a question for TXT records found: each record's text, or why there is none. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly texts: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly code: string }

/** Asks the DNS for the TXT records of a name; never throws. */
export type ResolveTxt = (name: string) => Promise<TxtAnswer>

const timeoutMs = 3_000
const tries = 2
const maxRecords = 100

/** The system's name servers, asked directly; nothing is remembered between questions. */
export function createTxtResolver(): ResolveTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries })
    try {
      const records = await resolver.resolveTxt(name)
      // One record is a list of strings that belong together (RFC 7208, section 3.3, says the same of SPF).
      return {
        kind: 'records',
        texts: records.slice(0, maxRecords).map((parts) => parts.join('')),
      }
    } catch (error) {
      const code = (error as { code?: string }).code ?? 'unknown'
      // ENODATA: the name has other records; ENOTFOUND: there is no such name.
      return code === 'ENODATA' || code === 'ENOTFOUND'
        ? { kind: 'none' }
        : { kind: 'failed', code }
    }
  }
}
