import type { Clock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createId, type OrganizationId, type SessionId, type UserId } from '../../ids.ts'
import {
  sessions,
  users,
  type Confirmation,
  type SessionRecord,
  type SessionWithUser,
  type Store,
  type Tx,
} from '../../store/index.ts'
import { createSessionCache, type SessionCache } from './session-cache.ts'
import { recordStart } from './session-news.ts'
import {
  createSessionTokens,
  tokenDigest,
  type SessionFormat,
  type SessionTokens,
} from './session-token.ts'
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

/** Why sessions end, and by whom. */
export interface EndReason {
  readonly by: string | undefined
  readonly reason: string
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

/** The sessions of somebody that are ended. */
export interface SessionsOf {
  readonly userId: UserId
  readonly which: SessionChoice
}

/** Sessions of people: start, identify, list, end. */
export interface Sessions {
  /**
   * Starts a session; the token is in this answer and nowhere else. What belongs to it is done in the same transaction,
   * and what that throws leaves no session behind.
   */
  start(
    input: SessionInput,
    within?: (tx: Tx, session: SessionRecord) => Promise<void>,
  ): Promise<{ token: string; session: SessionRecord }>
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
  endIn(tx: Tx, of: SessionsOf, why: EndReason): Promise<SessionRecord[]>
  /** Ends sessions and answers when every node refuses them. */
  end(
    userId: UserId,
    which: SessionChoice,
    why: EndReason,
  ): Promise<{ ended: SessionRecord[]; confirmation: Confirmation }>
  /**
   * Calls back when a session may have ended (undefined: any may have); open streams then look again.
   * What it answers ends the calling back.
   */
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void
  /** Deletes what ended long ago. */
  forget(): Promise<void>
}

interface SessionDeps {
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
export function createSessions(deps: SessionDeps): Sessions {
  return new SessionRules(deps)
}

class SessionRules implements Sessions {
  readonly #deps: SessionDeps
  readonly #store: Store
  readonly #tokens: SessionTokens
  readonly #cache: SessionCache
  // A clock that is set back revives nothing.
  #latestMs = 0

  constructor(deps: SessionDeps) {
    const { store } = deps
    this.#deps = deps
    this.#store = store
    this.#tokens = createSessionTokens(deps)
    this.#cache = createSessionCache({
      feed: store.feed,
      capacity: maxRemembered,
      read: async (digest) => await sessions.findByDigest(store, digest),
    })
  }

  async start(
    input: SessionInput,
    within?: (tx: Tx, session: SessionRecord) => Promise<void>,
  ): Promise<{ token: string; session: SessionRecord }> {
    const { clock, lifetimeMs } = this.#deps
    const { userId, provider, identityId, connectionId, address } = input
    const id = createId('ses', clock.now())
    const expiresAt = clock.now() + Math.min(lifetimeMs, input.maxMs ?? lifetimeMs)
    const token = await this.#tokens.mint({ id, userId, expiresAt })
    const session = await this.#store.transaction(async (tx) => {
      const agent = input.agent?.slice(0, maxAgentLength)
      const digest = tokenDigest(token)
      const who = { userId, provider, identityId, connectionId, address, agent }
      const started = await sessions.insert(tx, { id, digest, expiresAt, ...who })
      // From now on somebody has been in this account: no e-mail address claims it any more.
      await sessions.noteSeen(tx, { id, userId, at: tx.now, address })
      await recordStart(tx, started, input.requestId)
      await within?.(tx, started)
      return started
    })
    return { token, session }
  }

  async identify(token: string, from: { address?: string | undefined } = {}): Promise<SignedIn> {
    const digest = tokenDigest(token)
    let session = this.#cache.peek(digest)
    if (!session || this.#endsAt(session) <= this.#now()) {
      if (!session && !(await this.#tokens.isGenuine(token))) throw invalid()
      // Another node may have seen the person since.
      session = await this.#read(digest)
    }
    if (!session) throw invalid()
    if (session.endedAt !== undefined || session.userDeactivatedAt !== undefined) throw ended()
    if (this.#endsAt(session) <= this.#now()) {
      await this.#markExpired(session)
      throw ended()
    }
    if (this.#now() - session.lastSeenAt >= noteSeenEveryMs) {
      this.#cache.noteSeen(digest, this.#now())
      this.#noteSeen(session, from.address)
    }
    return signedIn(session)
  }

  async holderOf(sessionId: string): Promise<{ userId: UserId; name: string } | undefined> {
    const found = await sessions.find(this.#store, sessionId)
    const lives = found && found.endedAt === undefined && this.#endsAt(found) > this.#now()
    const user = lives ? await users.find(this.#store, found.userId) : undefined
    return user && { userId: user.id, name: user.name }
  }

  async list(userId: UserId, organizationId?: OrganizationId): Promise<SessionRecord[]> {
    const nowMs = this.#now()
    const living = await sessions.listLiving(this.#store, userId, { nowMs, organizationId })
    return living.filter((session) => this.#endsAt(session) > nowMs)
  }

  async endIn(tx: Tx, of: SessionsOf, why: EndReason): Promise<SessionRecord[]> {
    return await endSessions(tx, of, why)
  }

  async end(
    userId: UserId,
    which: SessionChoice,
    why: EndReason,
  ): Promise<{ ended: SessionRecord[]; confirmation: Confirmation }> {
    const done = await this.#store.transactionConfirmed(
      async (tx) => await endSessions(tx, { userId, which }, why),
    )
    return { ended: done.result, confirmation: done.confirmation }
  }

  onChange(heard: (sessionId: SessionId | undefined) => void): () => void {
    return this.#cache.onChange(heard)
  }

  async forget(): Promise<void> {
    await this.#store.transaction(async (tx) => await sessions.forget(tx, tx.now - keptMs))
  }

  #now(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#deps.clock.now())
    return this.#latestMs
  }

  #endsAt(session: SessionRecord): number {
    const { format, idleMs } = this.#deps
    if (format === 'jwt') return session.expiresAt
    return Math.min(session.expiresAt, session.lastSeenAt + idleMs)
  }

  async #read(digest: string): Promise<SessionWithUser | undefined> {
    try {
      return await this.#cache.read(digest)
    } catch (cause) {
      throw new Problem('storage_unavailable', 'The session cannot be verified at the moment.', {
        cause,
        headers: { 'Retry-After': '1' },
      })
    }
  }

  #noteSeen(session: SessionRecord, address: string | undefined): void {
    const seen = { id: session.id, userId: session.userId, at: this.#now(), address }
    // Nobody waits for it: the next request notes it again.
    this.#store.transaction(async (tx) => await sessions.noteSeen(tx, seen)).catch(() => undefined)
  }

  /** Once seen as expired it stays ended, whatever a clock says later. */
  async #markExpired({ id, userId }: SessionRecord): Promise<void> {
    const why = { by: undefined, reason: 'expired' }
    await this.#store
      .transaction(async (tx) => await endSessions(tx, { userId, which: { id } }, why))
      .catch(() => undefined)
  }
}

/** Ends sessions in a transaction that does more; every node hears of it at its commit. */
export async function endSessions(
  tx: Tx,
  { userId, which }: SessionsOf,
  why: EndReason,
): Promise<SessionRecord[]> {
  const gone = await sessions.end(tx, { userId, which, why })
  for (const { id } of gone) {
    tx.changed({ kind: 'session', organizationId: 'system', subjectId: id })
  }
  return gone
}

function signedIn(session: SessionWithUser): SignedIn {
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

const maxAgentLength = 300
const keptMs = 30 * 24 * 3600 * 1000

function invalid(): Problem {
  return new Problem('session_invalid', 'The session is not valid. Sign in again.')
}

function ended(): Problem {
  return new Problem('session_ended', 'The session has ended. Sign in again.')
}
