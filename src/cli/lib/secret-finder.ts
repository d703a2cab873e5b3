import { credentialPattern, formatOf, type CredentialFormat } from '../../credential-formats.ts'
import { checksumHolds, credentialLookup, hintOf } from '../../secrets/index.ts'

/** One of Intercept's credentials, found in some bytes, without its full text. */
export interface FoundSecret {
  readonly kind: CredentialFormat['kind']
  /** The hint under which the credential is shown elsewhere too; safe to paste into a support ticket. */
  readonly hint: string
  readonly line: number
}

const candidates = new RegExp(credentialPattern, 'g')
/** How many of the last bytes are searched again together with the next chunk; no credential is longer. */
const overlap = 128

/** Searches bytes that arrive in chunks; the checksum at a credential's end rules out look-alikes. */
export function createSecretFinder() {
  let rest = ''
  let line = 1
  let seenUpTo = 0

  return {
    /** Returns the credentials completed by this chunk. */
    push(piece: Buffer): FoundSecret[] {
      const text = rest + piece.toString('latin1')
      const found: FoundSecret[] = []
      for (const match of text.matchAll(candidates)) {
        const end = match.index + match[0].length
        const format = formatOf(match[0])
        if (end <= seenUpTo || format === undefined || !isOurs(match[0], format)) continue
        found.push({
          kind: format.kind,
          hint: hintOf(match[0], format),
          line: line + countLines(text.slice(0, match.index)),
        })
      }
      const kept = Math.min(text.length, overlap)
      line += countLines(text.slice(0, text.length - kept))
      rest = text.slice(text.length - kept)
      seenUpTo = kept
      return found
    },
  }
}

function isOurs(text: string, { prefix, shape }: CredentialFormat): boolean {
  return shape === 'plain' ? checksumHolds(text) : credentialLookup(text, prefix) !== undefined
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
