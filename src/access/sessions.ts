import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId, type SessionId, type UserId } from '../ids.ts'
import {
  memberships,
  sessions,
  users,
  type Confirmation,
  type SessionRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import { createSessionCache } from './session-cache.ts'
import { createSessionTokens, tokenDigest, type SessionFormat } from './session-token.ts'
import type { SigningKeys } from './signing-keys.ts'

const noteSeenEveryMs = 60_000
const maxRemembered = 50_000

/** Who is signed in, proven by a session. */
export interface SignedIn {
  readonly kind: 'user'
  readonly userId: UserId
  readonly sessionId: SessionId
  readonly name: string
  readonly email: string | undefined
  /** How: github, google, sso, setup, sign_in_link. */
  readonly provider: string
  /** The organization's connection that vouched for the person, if one did. */
  readonly connectionId: string | undefined
  readonly signedInAt: number
  readonly expiresAt: number
}

/** A sign-in that has been proven and becomes a session. */
export interface SessionInput {
  readonly userId: UserId
  readonly provider: string
  readonly identityId?: string | undefined
  readonly connectionId?: string | undefined
  /** Ends earlier than others do. */
  readonly maxMs?: number | undefined
  readonly address?: string | undefined
  readonly agent?: string | undefined
  readonly requestId?: string | undefined
}

/** Refuses what concerns a whole account to who is in by an organization's provider: `own_sign_in_required`. */
export function requireOwnSignIn(person: Pick<SignedIn, 'connectionId'>): void {
  if (person.connectionId === undefined) return
  throw new Problem(
    'own_sign_in_required',
    "You are signed in through an organization's identity provider, which vouches for you there only.",
  )
}

/** What of a person's sessions is ended: one, all, or all but one; those of one connection, or that reach an organization. */
export interface SessionChoice {
  readonly id?: string | undefined
  readonly except?: string | undefined
  readonly connectionId?: string | undefined
  /** Leaves out what other organizations' providers vouched for: none of it reaches this one. */
  readonly organizationId?: string | undefined
}

/** Sessions of people: start, identify, list, end. */
export interface Sessions {
  /** Starts a session; the token is in this answer and nowhere else. */
  start(wish: SessionInput): Promise<{ token: string; session: SessionRecord }>
  /**
   * Who a token belongs to; remembered while the change feed is current, else read.
   * `session_invalid`, `session_ended` (401), `storage_unavailable` (503).
   */
  identify(token: string, from?: { address?: string | undefined }): Promise<SignedIn>
  /** Whose a living session is. */
  holderOf(sessionId: string): Promise<{ userId: UserId; name: string } | undefined>
  /** Living sessions, newest first; of an organization, those that reach it. */
  list(userId: UserId, organizationId?: OrganizationId): Promise<SessionRecord[]>
  /** Ends sessions in a transaction that does more; every node hears of it at its commit. */
  endIn(
    tx: Tx,
    userId: UserId,
    which: SessionChoice,
    why: { by: string | undefined; reason: string },
  ): Promise<SessionRecord[]>
  /** Ends sessions and answers when every node refuses them. */
  end(
    userId: UserId,
    which: SessionChoice,
    why: { by: string | undefined; reason: string },
  ): Promise<{ ended: SessionRecord[]; confirmation: Confirmation }>
  /**
   * Calls back when a session may have ended (undefined: any may have); open streams then look again.
   * What it answers ends the calling back.
   */
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void
  /** Deletes what ended long ago. */
  forget(): Promise<void>
}

interface Needs {
  readonly store: Store
  readonly clock: Clock
  readonly signingKeys: SigningKeys
  readonly format: SessionFormat
  /** `iss` of tokens: the identity address. */
  readonly issuer: string
  /** `aud` of tokens: the base address. */
  readonly audience: string
  /** At most, from the sign-in on. */
  readonly lifetimeMs: number
  /** Without use, for opaque tokens. */
  readonly idleMs: number
}

/** Opens the sessions. */
export function createSessions(deps: Needs): Sessions {
  const { store, clock } = deps
  const tokens = createSessionTokens(deps)
  const cache = createSessionCache({
    feed: store.feed,
    capacity: maxRemembered,
    read: async (digest) => await sessions.findByDigest(store, digest),
  })
  // A clock that is set back revives nothing (S6).
  let latestMs = 0

  function now(): number {
    latestMs = Math.max(latestMs, clock.now())
    return latestMs
  }

  function endsAt(session: SessionRecord): number {
    if (deps.format === 'jwt') return session.expiresAt
    return Math.min(session.expiresAt, session.lastSeenAt + deps.idleMs)
  }

  async function read(digest: string): Promise<ReturnType<typeof cache.peek>> {
    try {
      return await cache.read(digest)
    } catch (cause) {
      throw new Problem('storage_unavailable', 'The session cannot be verified at the moment.', {
        cause,
        headers: { 'Retry-After': '1' },
      })
    }
  }

  async function identify(
    token: string,
    from: { address?: string | undefined } = {},
  ): Promise<SignedIn> {
    const digest = tokenDigest(token)
    let session = cache.peek(digest)
    if (!session || endsAt(session) <= now()) {
      if (!session && !(await tokens.isGenuine(token))) throw invalid()
      // Another node may have seen the person since.
      session = await read(digest)
    }
    if (!session) throw invalid()
    if (session.endedAt !== undefined || session.userDeactivatedAt !== undefined) throw ended()
    if (endsAt(session) <= now()) {
      await markExpired(session)
      throw ended()
    }
    if (now() - session.lastSeenAt >= noteSeenEveryMs) {
      cache.noteSeen(digest, now())
      noteSeen(session, from.address)
    }
    return {
      kind: 'user',
      userId: session.userId,
      sessionId: session.id,
      name: session.userName,
      email: session.userEmail,
      provider: session.provider,
      connectionId: session.connectionId,
      signedInAt: session.signedInAt,
      expiresAt: session.expiresAt,
    }
  }

  function noteSeen(session: SessionRecord, address: string | undefined): void {
    const seen = { id: session.id, userId: session.userId, at: now(), address }
    // Nobody waits for it: the next request notes it again.
    store.transaction(async (tx) => await sessions.noteSeen(tx, seen)).catch(() => undefined)
  }

  /** Once seen as expired it stays ended, whatever a clock says later. */
  async function markExpired(session: SessionRecord): Promise<void> {
    const why = { by: undefined, reason: 'expired' }
    await store
      .transaction(async (tx) => await endSessions(tx, session.userId, { id: session.id }, why))
      .catch(() => undefined)
  }

  return {
    identify,
    endIn: endSessions,
    async start(wish) {
      const id = createId('ses', clock.now())
      const lifetimeMs = Math.min(deps.lifetimeMs, wish.maxMs ?? deps.lifetimeMs)
      const expiresAt = clock.now() + lifetimeMs
      const token = await tokens.mint({ id, userId: wish.userId, expiresAt })
      const session = await store.transaction(async (tx) => {
        const { userId, provider, identityId, connectionId, address } = wish
        const agent = wish.agent?.slice(0, maxAgentLength)
        const digest = tokenDigest(token)
        const who = { userId, provider, identityId, connectionId, address, agent }
        const started = await sessions.insert(tx, { id, digest, expiresAt, ...who })
        // From now on somebody has been in this account: no e-mail address claims it any more.
        await sessions.noteSeen(tx, { id, userId, at: tx.now, address })
        await recordStart(tx, started, wish.requestId)
        return started
      })
      return { token, session }
    },
    async holderOf(sessionId) {
      const found = await sessions.find(store, sessionId)
      const lives = found && found.endedAt === undefined && endsAt(found) > now()
      const user = lives ? await users.find(store, found.userId) : undefined
      return user && { userId: user.id, name: user.name }
    },
    list: async (userId, organizationId) => {
      const living = await sessions.listLiving(store, userId, { nowMs: now(), organizationId })
      return living.filter((session) => endsAt(session) > now())
    },
    async end(userId, which, why) {
      const done = await store.transactionConfirmed(
        async (tx) => await endSessions(tx, userId, which, why),
      )
      return { ended: done.result, confirmation: done.confirmation }
    },
    onChange: (change) => cache.onChange(change),
    forget: async () =>
      await store.transaction(async (tx) => await sessions.forget(tx, tx.now - keptMs)),
  }
}

/** Ends sessions in a transaction that does more; every node hears of it at its commit. */
export async function endSessions(
  tx: Tx,
  userId: UserId,
  which: SessionChoice,
  why: { by: string | undefined; reason: string },
): Promise<SessionRecord[]> {
  const gone = await sessions.end(tx, { userId, which, why })
  for (const { id } of gone) {
    tx.changed({ kind: 'session', organizationId: 'system', subjectId: id })
  }
  return gone
}

/** A sign-in is news in every organization of the person. */
async function recordStart(
  tx: Tx,
  session: SessionRecord,
  requestId: string | undefined,
): Promise<void> {
  const { userId, address } = session
  const user = await users.find(tx, userId)
  for (const { organization, membership } of await memberships.listOfUser(tx, userId)) {
    if (membership.deactivatedAt !== undefined) continue
    record(tx, {
      organizationId: organization.id,
      actor: { kind: 'user', id: userId, name: user?.name, address, requestId },
      action: 'session.started',
      subject: { kind: 'session', id: session.id },
      detail: { provider: session.provider },
    })
  }
}

const maxAgentLength = 300
const keptMs = 30 * 24 * 3600 * 1000

function invalid(): Problem {
  return new Problem('session_invalid', 'The session is not valid. Sign in again.')
}

function ended(): Problem {
  return new Problem('session_ended', 'The session has ended. Sign in again.')
}
