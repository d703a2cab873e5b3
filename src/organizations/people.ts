import type { Sessions } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { UserId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import {
  identities,
  users,
  type Actor,
  type IdentityRecord,
  type Store,
  type UserRecord,
} from '../store/index.ts'
import { linkIdentity, removeIdentity } from './identities.ts'
import {
  createIdentityProofs,
  withCleanTexts,
  type IdentityProofs,
  type ProofHolder,
  type ProvenIdentity,
} from './identity-proof.ts'
import { nameOf } from './name.ts'
import { requireWholeAccount, speaksForAccount } from './own-account.ts'
import { recordForPerson } from './audit-entries.ts'
import { recognize, type Recognized } from './recognition.ts'
import type { Visitor } from './session-reach.ts'

export interface PeopleDeps {
  readonly store: Store
  readonly clock: Clock
  readonly sealer: Sealer
  readonly sessions: Sessions
  readonly signUp: 'invited' | 'open'
}

/** Recognizes people by their identities, and changes their accounts. */
export class People {
  readonly #deps: PeopleDeps
  readonly #proofs: IdentityProofs

  constructor(deps: PeopleDeps) {
    this.#deps = deps
    this.#proofs = createIdentityProofs(deps)
  }

  /**
   * Returns the person behind a proven identity. Throws `sign_in_refused`, `email_not_verified`, `account_exists`
   * (403).
   */
  async recognize(proven: ProvenIdentity, actor: Actor): Promise<Recognized> {
    return await recognize(this.#deps, withCleanTexts(proven), actor)
  }

  /** Makes a proof that its holder can confirm on their own page. */
  proofOf(proven: ProvenIdentity, holder: ProofHolder): string {
    return this.#proofs.make(withCleanTexts(proven), holder)
  }

  /** Returns the identity that a proof would add. Throws `link_invalid`. */
  readProof(proof: string, holder: ProofHolder): ProvenIdentity {
    return this.#proofs.read(proof, holder)
  }

  /**
   * Adds the identity of a proof, only in the session in which the person began to add it. Throws `link_invalid`,
   * `identity_taken`, `not_found`.
   */
  async addIdentity(proof: string, holder: ProofHolder, actor: Actor): Promise<IdentityRecord> {
    const proven = await this.#proofs.use(proof, holder)
    return await this.#deps.store.transaction(
      async (tx) => await linkIdentity(tx, holder.userId, { proven, actor }),
    )
  }

  /**
   * Removes an identity and ends every session of its person; resolves when every node refuses them. Throws
   * `not_found`, or `conflict` for the only identity with which the person can still sign in.
   */
  async removeIdentity(userId: UserId, id: string, actor: Actor): Promise<void> {
    const { store, sessions } = this.#deps
    await store.transactionConfirmed(
      async (tx) => await removeIdentity({ tx, sessions }, { userId, id }, actor),
    )
  }

  /** Returns a person's identities; a session that may not act on the whole account sees only its own provider's. */
  async identitiesOf(person: Visitor): Promise<IdentityRecord[]> {
    const all = await identities.listOf(this.#deps.store, person.userId)
    if (await speaksForAccount(this.#deps.store, person)) return all
    return all.filter(({ connectionId }) => connectionId === person.connectionId)
  }

  /**
   * Returns the connection whose sessions this session may list and end; undefined if it may list and end all of the
   * person's sessions.
   */
  async ownSessionsOf(person: Visitor): Promise<{ readonly connectionId: string | undefined }> {
    const speaks = await speaksForAccount(this.#deps.store, person)
    return { connectionId: speaks ? undefined : person.connectionId }
  }

  /** Throws `not_found`. */
  async get(userId: string): Promise<UserRecord> {
    const user = await users.find(this.#deps.store, userId)
    if (!user) throw new Problem('not_found', 'There is no such person.')
    return user
  }

  /** Throws `own_sign_in_required`, `invalid_input` or `version_conflict`. */
  async rename(
    person: Visitor,
    { name, expectedVersion }: { name: string; expectedVersion: number | undefined },
    actor: Actor,
  ): Promise<UserRecord> {
    const { userId } = person
    const { store } = this.#deps
    await requireWholeAccount(store, person)
    return await store.transaction(async (tx) => {
      const user = await users.update(tx, userId, { name: nameOf(name), expectedVersion })
      if (!user) throw new Problem('version_conflict', 'Your profile was changed meanwhile.')
      const detail = { name: user.name }
      await recordForPerson(tx, { userId }, { actor, action: 'user.renamed', detail })
      tx.changed({ kind: 'user', organizationId: 'system', subjectId: userId })
      return user
    })
  }
}
