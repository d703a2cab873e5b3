import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { faultOf } from '../oidc/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'
import {
  connections,
  providerSessions,
  users,
  type Actor,
  type SessionRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import type { PendingLink } from './admission.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { Connection } from './connections.ts'
import type { ProviderLogout } from './provider-logout.ts'

// Strangers can cause refusals, so recording is limited per connection: 200 at once, then one every ten seconds.
const recorded: Rate = { calls: 1, perSeconds: 10, burst: 200 }
const connectionsInMemory = 10_000

interface SsoOutcomesDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logout: Pick<ProviderLogout, 'keep'>
}

interface SignIn {
  readonly person: CompanyPerson
  readonly session: SessionRecord
  readonly actor: Actor
}

/** Records the outcomes of sign-ins, for the audit log and for the connection's page. */
export class SsoOutcomes {
  readonly #deps: SsoOutcomesDeps
  readonly #limiter = new RateLimiter(connectionsInMemory)

  constructor(deps: SsoOutcomesDeps) {
    this.#deps = deps
  }

  /** Records a sign-in and links its session to the provider's, in the transaction that starts the session. */
  async signedIn(
    tx: Tx,
    connection: Connection,
    { person, session, actor }: SignIn,
  ): Promise<void> {
    const { organizationId, id, settings } = connection
    const { userId } = session
    await providerSessions.insert(tx, {
      sessionId: session.id,
      connectionId: id,
      userId,
      subject: person.subject,
      providerSession: person.providerSession,
      expiresAt: session.expiresAt,
      idTokenSealed: settings.endsProviderSession
        ? this.#deps.logout.keep(id, session.id, person.idToken)
        : undefined,
    })
    await connections.noteOutcome(tx, { organizationId, id, outcome: 'signed-in' })
    const user = await users.find(tx, userId)
    const { issuer, subject } = person
    // Without a list of groups a person keeps their role.
    const keepsRole = person.groups === undefined && settings.groupRoles.length > 0
    const groups = keepsRole ? { groups: person.groupsLeftOut ? 'too_many' : 'not_sent' } : {}
    record(tx, {
      organizationId,
      actor: { ...actor, kind: 'user', id: userId, name: user?.name },
      action: 'sso.signed_in',
      subject: { kind: 'connection', id },
      detail: { session_id: session.id, issuer, subject, ...groups },
    })
  }

  /** Records a refusal, within a limit per connection. */
  async refused(connection: Connection, error: unknown, actor: Actor): Promise<void> {
    if (!(error instanceof Problem) || !this.#mayRecord(connection)) return
    const { organizationId, id } = connection
    const { code, message: sentence } = error
    const check = faultOf(error)?.check
    await this.#deps.store.transaction(async (tx) => {
      const refusal = { code, sentence, at: tx.now }
      await connections.noteOutcome(tx, { organizationId, id, outcome: { refusal } })
      record(tx, {
        organizationId,
        actor,
        action: 'sso.refused',
        subject: { kind: 'connection', id },
        detail: { code, sentence, ...(check === undefined ? {} : { check }) },
      })
    })
  }

  /** Records that a sign-in waits until a person confirms that it is theirs. The limit of `refused` applies. */
  async asked(
    connection: Connection,
    { person, candidates }: PendingLink,
    actor: Actor,
  ): Promise<void> {
    if (!this.#mayRecord(connection)) return
    const { organizationId, id } = connection
    const { issuer, subject, mail } = person
    await this.#deps.store.transaction(async (tx) => {
      record(tx, {
        organizationId,
        actor: { ...actor, name: mail?.address ?? subject },
        action: 'sso.confirmation_required',
        subject: { kind: 'connection', id },
        detail: { issuer, subject, email: mail?.address ?? null, candidates: [...candidates] },
      })
    })
  }

  /** Deletes the provider sessions that are stored for expired sessions. */
  async forget(): Promise<void> {
    await this.#deps.store.transaction(async (tx) => await providerSessions.forget(tx, tx.now))
  }

  #mayRecord({ id }: Connection): boolean {
    return this.#limiter.ask(id, recorded, this.#deps.clock.monotonic(), true).admitted
  }
}
