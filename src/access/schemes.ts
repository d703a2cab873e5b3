import { credentialFormats } from '../credential-formats.ts'
import { credentialLookup } from '../secrets/index.ts'

export type { Quota } from '../store/index.ts'
import type { Scheme } from '../store/index.ts'

export type { Scheme } from '../store/index.ts'

/** The two ways to send an API key. */
export const schemes = {
  'x-api-key': { prefix: credentialFormats.xApiKey.prefix, header: 'X-API-Key' },
  bearer: { prefix: credentialFormats.bearerKey.prefix, header: 'Authorization: Bearer' },
} as const satisfies Record<Scheme, { prefix: string; header: string }>

/** Returns the public id in a key's hint, such as `svc_live_k3x9Qa2P_…x7Qa`; any other text as it is. */
export function publicIdIn(text: string): string {
  const scheme = Object.values(schemes).find(({ prefix }) => text.startsWith(prefix))
  const [publicId = ''] = text.slice(scheme?.prefix.length ?? 0).split('_', 1)
  return scheme === undefined ? text : publicId
}

/** Returns the scheme of a text that has the shape and checksum of a key; undefined for any other text. */
export function schemeOfKey(text: string): Scheme | undefined {
  if (credentialLookup(text, schemes['x-api-key'].prefix) !== undefined) return 'x-api-key'
  if (credentialLookup(text, schemes.bearer.prefix) !== undefined) return 'bearer'
  return undefined
}
