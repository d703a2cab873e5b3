import type { Clock } from '../../clock.ts'
import { createId } from '../../ids.ts'
import { loadSigner, mintSigningKeyPair, type Sealer, type Signer } from '../../secrets/index.ts'
import { signingKeys, type Store } from '../../store/index.ts'
import { dayMs } from '../../units.ts'

const rotateAfterMs = 30 * dayMs
// Sessions last at most 24 hours, so every token that a key has signed expires before that key is withdrawn.
const publishedAfterRetirementMs = 2 * dayMs

/** The service's own ES256 keys: one signs, and every key that may have signed a still valid token is published. */
export interface SigningKeys {
  signer(): Signer
  /** Returns the public JWK of one of our keys as JSON text; undefined for any other kid. */
  publicJwkOf(kid: string): string | undefined
  /** Returns the JWK set for /.well-known/jwks.json (RFC 7517, section 5). */
  jwks(): { keys: Record<string, unknown>[] }
  /**
   * Creates a new signing key if the present one is older than 30 days, or immediately with `force`. Withdraws retired
   * keys that no valid token needs any more.
   */
  rotate(force?: boolean): Promise<void>
}

interface SigningKeysDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
}

/** Opens the signing keys, and creates the first one if there is none. */
export async function openSigningKeys(deps: SigningKeysDeps): Promise<SigningKeys> {
  const opened = new StoredSigningKeys(deps)
  const load = async (): Promise<void> => await opened.load()
  // If this read fails, tokens signed with another node's new key are refused until this node reads the keys again.
  deps.store.feed.on('signing_key', () => void load().catch(() => undefined), load)
  await load()
  await opened.rotate()
  return opened
}

class StoredSigningKeys implements SigningKeys {
  readonly #deps: SigningKeysDeps
  #published: ReadonlyMap<string, string> = new Map()
  #current: { readonly signer: Signer; readonly createdAt: number } | undefined
  /** The earliest time at which one of the published keys was retired; Infinity if none is retired. */
  #retiredFirst = Infinity

  constructor(deps: SigningKeysDeps) {
    this.#deps = deps
  }

  signer(): Signer {
    if (!this.#current) throw new Error('there is no signing key')
    return this.#current.signer
  }

  publicJwkOf(kid: string): string | undefined {
    return this.#published.get(kid)
  }

  jwks(): { keys: Record<string, unknown>[] } {
    const keys = [...this.#published].map(([kid, jwk]) => {
      const members = JSON.parse(jwk) as Record<string, unknown>
      return { ...members, kid, use: 'sig', alg: 'ES256' }
    })
    return { keys }
  }

  async rotate(force = false): Promise<void> {
    const { store, sealer, clock } = this.#deps
    const before = this.#current
    if (!force && before && clock.now() - before.createdAt < rotateAfterMs) {
      if (this.#retiredFirst < clock.now() - publishedAfterRetirementMs) await this.#withdraw()
      return
    }
    const { publicJwk, privateJwk } = await mintSigningKeyPair()
    const id = createId('sgn', clock.now())
    await store.transaction(async (tx) => {
      const [newest] = await signingKeys.list(tx)
      // Another node has already rotated the keys, so this node uses that node's key.
      if (newest && newest.id !== before?.signer.kid && newest.retiredAt === undefined) return
      const privateSealed = sealer.seal(privateJwk, context(id))
      await signingKeys.insert(tx, { id, publicJwk, privateSealed })
      await signingKeys.retireOthers(tx, id)
      await signingKeys.deleteRetired(tx, tx.now - publishedAfterRetirementMs)
      tx.changed({ kind: 'signing_key', organizationId: 'system', subjectId: id })
    })
    await this.load()
  }

  async load(): Promise<void> {
    const { store, sealer } = this.#deps
    const known = await signingKeys.list(store)
    this.#published = new Map(known.map((key) => [key.id, key.publicJwk]))
    this.#retiredFirst = Math.min(...known.map(({ retiredAt = Infinity }) => retiredAt))
    const newest = known.find((key) => key.retiredAt === undefined)
    if (!newest || newest.id === this.#current?.signer.kid) return
    const { id, createdAt, privateSealed } = newest
    const signer = await loadSigner(id, sealer.open(privateSealed, context(id)))
    this.#current = { signer, createdAt }
  }

  async #withdraw(): Promise<void> {
    await this.#deps.store.transaction(async (tx) => {
      await signingKeys.deleteRetired(tx, tx.now - publishedAfterRetirementMs)
      tx.changed({ kind: 'signing_key', organizationId: 'system', subjectId: 'retired' })
    })
    await this.load()
  }
}

function context(id: string): string[] {
  return ['system', id, 'private_jwk']
}
