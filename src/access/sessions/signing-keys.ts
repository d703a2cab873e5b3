import type { Clock } from '../../clock.ts'
import { createId } from '../../ids.ts'
import { loadSigner, mintSigningKeyPair, type Sealer, type Signer } from '../../secrets/index.ts'
import { signingKeys, type Store } from '../../store/index.ts'

const dayMs = 24 * 3600 * 1000
const rotateAfterMs = 30 * dayMs
// Longer than any token that an old key signed can live.
const publishedAfterRetirementMs = 2 * dayMs

/** The service's own ES256 keys: one signs, all that may have signed a living token are published. */
export interface SigningKeys {
  /** The key that signs now. */
  signer(): Signer
  /** The public JWK text of a kid, if it is one of ours. */
  publicJwkOf(kid: string): string | undefined
  /** The JWK set (RFC 7517, section 5), for /.well-known/jwks.json. */
  jwks(): { keys: Record<string, unknown>[] }
  /** Makes a new key the signing one if the present one is older than 30 days, or at once with `force`. */
  rotate(force?: boolean): Promise<void>
}

/** Opens the signing keys; makes the first one. */
export async function openSigningKeys(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): Promise<SigningKeys> {
  const { store, sealer, clock } = deps
  let published = new Map<string, string>()
  let current: Signer | undefined
  let currentSince = 0

  async function load(): Promise<void> {
    const known = await signingKeys.list(store)
    published = new Map(known.map((key) => [key.id, key.publicJwk]))
    const newest = known.find((key) => key.retiredAt === undefined)
    if (!newest || newest.id === current?.kid) return
    current = await loadSigner(newest.id, sealer.open(newest.privateSealed, context(newest.id)))
    currentSince = newest.createdAt
  }

  async function rotate(force = false): Promise<void> {
    if (!force && current && clock.now() - currentSince < rotateAfterMs) return
    const before = current?.kid
    const pair = await mintSigningKeyPair()
    const id = createId('sgn', clock.now())
    await store.transaction(async (tx) => {
      const [newest] = await signingKeys.list(tx)
      // Another node was first.
      if (newest && newest.id !== before && newest.retiredAt === undefined) return
      await signingKeys.insert(tx, {
        id,
        publicJwk: pair.publicJwk,
        privateSealed: sealer.seal(pair.privateJwk, context(id)),
      })
      await signingKeys.retireOthers(tx, id)
      await signingKeys.deleteRetired(tx, tx.now - publishedAfterRetirementMs)
      tx.changed({ kind: 'signing_key', organizationId: 'system', subjectId: id })
    })
    await load()
  }

  store.feed.on('signing_key', () => void load().catch(() => undefined), load)
  await load()
  await rotate()

  return {
    rotate,
    publicJwkOf: (kid) => published.get(kid),
    jwks: () => ({
      keys: [...published].map(([kid, jwk]) => ({
        ...(JSON.parse(jwk) as Record<string, unknown>),
        kid,
        use: 'sig',
        alg: 'ES256',
      })),
    }),
    signer() {
      if (!current) throw new Error('there is no signing key')
      return current
    },
  }
}

function context(id: string): string[] {
  return ['system', id, 'private_jwk']
}
