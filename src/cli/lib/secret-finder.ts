import { checksumHolds, credentialLookup } from '../../secrets/index.ts'

/** A credential of ours in some bytes: never the whole of it. */
export interface FoundSecret {
  readonly kind: 'api_key' | 'scim_token' | 'webhook_secret'
  /** Prefix and public id; what a support ticket may contain. */
  readonly hint: string
  readonly line: number
}

const kinds: Readonly<Record<string, FoundSecret['kind']>> = {
  svc_live_: 'api_key',
  sk_live_: 'api_key',
  svc_scim_: 'scim_token',
  svc_whsec_: 'webhook_secret',
}
const candidates =
  /(svc_live_|sk_live_|svc_scim_)[0-9A-Za-z]{8}_[0-9A-Za-z]{49}|(svc_whsec_)[0-9A-Za-z]{48}/g
/** No credential is longer; so much of each piece is looked at again with the next one. */
const overlap = 128

/** Looks through bytes that come in pieces; the checksum at a credential's end keeps look-alikes out. */
export function createSecretFinder() {
  let rest = ''
  let line = 1
  let seenUpTo = 0

  return {
    /** The credentials that this piece completes. */
    push(piece: Buffer): FoundSecret[] {
      const text = rest + piece.toString('latin1')
      const found: FoundSecret[] = []
      for (const match of text.matchAll(candidates)) {
        const end = match.index + match[0].length
        const prefix = match[1] ?? match[2] ?? ''
        if (end <= seenUpTo || !isOurs(match[0], prefix)) continue
        found.push({
          kind: kinds[prefix] ?? 'api_key',
          hint: `${match[0].slice(0, prefix.length + 8)}…`,
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

function isOurs(text: string, prefix: string): boolean {
  return prefix === 'svc_whsec_'
    ? checksumHolds(text)
    : credentialLookup(text, prefix) !== undefined
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
