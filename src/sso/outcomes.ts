import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { faultOf } from '../oidc/index.ts'
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

/** What became of sign-ins: for the audit log and the page of the connection. */
export interface SsoOutcomes {
  /** Notes whose session at the provider it is, in the transaction that starts it. */
  signedIn(
    tx: Tx,
    connection: Connection,
    entry: {
      readonly person: CompanyPerson
      readonly session: SessionRecord
      readonly actor: Actor
    },
  ): Promise<void>
  /** Notes a refusal; beyond a budget per connection strangers cannot fill the log. */
  refused(connection: Connection, error: unknown, actor: Actor): Promise<void>
  /** Notes that somebody was asked to confirm from the account that an address names; within the same budget. */
  asked(connection: Connection, link: PendingLink, actor: Actor): Promise<void>
  /** Deletes what sessions that have run out had at their provider. */
  forget(): Promise<void>
}

const burst = 200
const refillMs = 10_000
const connectionsInMemory = 10_000

/** Opens the outcomes. */
export function createSsoOutcomes(deps: {
  store: Store
  clock: Clock
  logout: Pick<ProviderLogout, 'keep'>
}): SsoOutcomes {
  const { store, clock, logout } = deps
  const budgets = new Map<string, { left: number; at: number }>()

  function spend(connectionId: string): boolean {
    const now = clock.now()
    const known = budgets.get(connectionId) ?? { left: burst, at: now }
    // A clock that was set back takes nothing away.
    const left = Math.min(burst, known.left + Math.max(0, now - known.at) / refillMs)
    if (budgets.size >= connectionsInMemory) budgets.clear()
    budgets.set(connectionId, { left: left < 1 ? left : left - 1, at: now })
    return left >= 1
  }

  return {
    forget: async () =>
      await store.transaction(async (tx) => await providerSessions.forget(tx, tx.now)),
    async signedIn(tx, connection, { person, session, actor }) {
      const { organizationId, id } = connection
      await providerSessions.insert(tx, {
        sessionId: session.id,
        connectionId: id,
        userId: session.userId,
        subject: person.subject,
        providerSession: person.providerSession,
        expiresAt: session.expiresAt,
        idTokenSealed: connection.settings.endsProviderSession
          ? logout.keep(id, session.id, person.idToken)
          : undefined,
      })
      await connections.noteOutcome(tx, { organizationId, id, outcome: 'signed-in' })
      const user = await users.find(tx, session.userId)
      record(tx, {
        organizationId,
        actor: { ...actor, kind: 'user', id: session.userId, name: user?.name },
        action: 'sso.signed_in',
        subject: { kind: 'connection', id },
        detail: {
          session_id: session.id,
          issuer: person.issuer,
          subject: person.subject,
          // Roles by groups stay as they are then.
          ...(person.groups === undefined && connection.settings.groupRoles.length > 0
            ? { groups: person.groupsLeftOut ? 'too_many' : 'not_sent' }
            : {}),
        },
      })
    },
    async asked(connection, { person, candidates }, actor) {
      if (!spend(connection.id)) return
      const { organizationId, id } = connection
      const { issuer, subject, mail } = person
      await store.transaction(async (tx) => {
        record(tx, {
          organizationId,
          actor: { ...actor, name: mail?.address ?? subject },
          action: 'sso.confirmation_required',
          subject: { kind: 'connection', id },
          detail: { issuer, subject, email: mail?.address ?? null, candidates: [...candidates] },
        })
      })
    },
    async refused(connection, error, actor) {
      if (!(error instanceof Problem) || !spend(connection.id)) return
      const { organizationId, id } = connection
      const { code, message: sentence } = error
      const check = faultOf(error)?.check
      await store.transaction(async (tx) => {
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
    },
  }
}
