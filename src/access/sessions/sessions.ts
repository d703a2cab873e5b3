import { ForwardClock, type Clock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createId, type OrganizationId, type SessionId, type UserId } from '../../ids.ts'
import {
  identities,
  limitLocks,
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
import { dayMs, hourMs, minuteMs } from '../../units.ts'

const noteSeenEveryMs = minuteMs
const maxRemembered = 50_000
const freshForMs = hourMs

export interface SignedIn {
  readonly kind: 'user'
  readonly userId: UserId
  readonly sessionId: SessionId
  readonly name: string
  readonly email: string | undefined
  /** How the person signed in: github, google, sso, setup or sign_in_link. */
  readonly provider: string
  /** The organization's connection through which the person signed in, if any. */
  readonly connectionId: string | undefined
  readonly signedInAt: number
  readonly expiresAt: number
}

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
  /** The longest time that this session may last, if shorter than the usual lifetime. */
  readonly maxMs?: number | undefined
  readonly address?: string | undefined
  readonly agent?: string | undefined
  readonly requestId?: string | undefined
}

/**
 * Throws `own_sign_in_required` for people who signed in through an organization's provider: they must not change the
 * account itself.
 */
export function requireOwnSignIn(person: Pick<SignedIn, 'connectionId'>): void {
  if (person.connectionId === undefined) return
  throw new Problem(
    'own_sign_in_required',
    "You are signed in through an organization's identity provider, which vouches for you there only.",
  )
}

/** Whether a sign-in was recent enough, at a given time, for sensitive requests. */
export function isFreshSignIn({ signedInAt }: Pick<SignedIn, 'signedInAt'>, at: number): boolean {
  return at - signedInAt < freshForMs
}

/** Selects sessions of a person to end: those that match every given member, or all sessions if none is given. */
export interface SessionChoice {
  readonly id?: string | undefined
  readonly except?: string | undefined
  readonly connectionId?: string | undefined
  /** Leaves out sessions through other organizations' providers, which do not reach this one. */
  readonly organizationId?: string | undefined
}

export interface SessionsOf {
  readonly userId: UserId
  readonly which: SessionChoice
}

interface SessionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly signingKeys: SigningKeys
  readonly format: SessionFormat
  /** The `iss` claim of tokens: the address of sign-in. */
  readonly issuer: string
  /** The `aud` claim of tokens: the base address. */
  readonly audience: string
  /** How long a session lasts at most. */
  readonly lifetimeMs: number
  /** How long a session with an opaque token lasts without use. */
  readonly idleMs: number
}

export class Sessions {
  readonly #deps: SessionDeps
  readonly #store: Store
  readonly #tokens: SessionTokens
  readonly #cache: SessionCache
  readonly #clock: ForwardClock

  constructor(deps: SessionDeps) {
    const { store } = deps
    this.#deps = deps
    this.#store = store
    this.#clock = new ForwardClock(deps.clock)
    this.#tokens = createSessionTokens(deps)
    this.#cache = createSessionCache({
      feed: store.feed,
      capacity: maxRemembered,
      read: async (digest) => await sessions.findByDigest(store, digest),
    })
  }

  /**
   * Starts a session; the token is returned here and can never be read again. `within` runs in the same transaction,
   * and if it throws, no session is started. Throws `sign_in_refused` if the identity was removed in the meantime.
   */
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
      if (identityId !== undefined && !(await identities.hold(tx, userId, identityId))) {
        throw new Problem('sign_in_refused', 'This way to sign in was removed meanwhile.')
      }
      const started = await sessions.insert(tx, { id, digest, expiresAt, ...who })
      // A first sign-in marks the account as used: from now on nobody can claim it by its e-mail address alone.
      await sessions.noteSeen(tx, { id, userId, at: tx.now, address })
      await recordStart(tx, started, input.requestId)
      await within?.(tx, started)
      return started
    })
    return { token, session }
  }

  /**
   * Returns the person to whom a token belongs. Throws `session_invalid`, `session_ended` (401), `storage_unavailable`
   * (503).
   */
  async identify(token: string, from: { address?: string | undefined } = {}): Promise<SignedIn> {
    const digest = tokenDigest(token)
    let session = this.#cache.peek(digest) ?? (await this.#cache.peekProven(digest))
    if (!session || this.#endsAt(session) <= this.#clock.now()) {
      if (!session && !(await this.#tokens.isGenuine(token))) throw invalid()
      // Another node may have seen the person more recently, which keeps an idle session alive.
      session = await this.#read(digest)
    }
    if (!session) throw invalid()
    if (session.endedAt !== undefined || session.userDeactivatedAt !== undefined) throw ended()
    if (this.#endsAt(session) <= this.#clock.now()) {
      await this.#markExpired(session)
      throw ended()
    }
    if (this.#clock.now() - session.lastSeenAt >= noteSeenEveryMs) {
      this.#cache.noteSeen(digest, this.#clock.now())
      this.#noteSeen(session, from.address)
    }
    return signedIn(session)
  }

  /** Returns the person to whom an active session belongs; undefined if the session is unknown or not active. */
  async holderOf(sessionId: string): Promise<{ userId: UserId; name: string } | undefined> {
    const found = await sessions.find(this.#store, sessionId)
    const lives = found && found.endedAt === undefined && this.#endsAt(found) > this.#clock.now()
    const user = lives ? await users.find(this.#store, found.userId) : undefined
    return user && { userId: user.id, name: user.name }
  }

  /** Lists up to 200 active sessions, newest first; with an organization, only those that reach it. */
  async list(userId: UserId, organizationId?: OrganizationId): Promise<SessionRecord[]> {
    const nowMs = this.#clock.now()
    const living = await sessions.listLiving(this.#store, userId, { nowMs, organizationId })
    return living.filter((session) => this.#endsAt(session) > nowMs)
  }

  async endIn(tx: Tx, of: SessionsOf, why: EndReason): Promise<SessionRecord[]> {
    return await endSessions(tx, of, why)
  }

  /** Ends sessions and resolves when every node refuses them. */
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

  /**
   * Calls `heard` with a session's id when that session may have ended, and with undefined when any session may have.
   * Open streams then check their sessions again. Returns a function that unregisters `heard`.
   */
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void {
    return this.#cache.onChange(heard)
  }

  /** Deletes sessions 30 days after their expiry date, even those that ended before it. */
  async forget(): Promise<void> {
    await this.#store.transaction(async (tx) => await sessions.forget(tx, tx.now - keptMs))
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
    const seen = { id: session.id, userId: session.userId, at: this.#clock.now(), address }
    // No request waits for this, and the next write makes up for a lost one.
    const note = async (tx: Tx): Promise<void> => {
      // The end of the session waits for the same row.
      await limitLocks(tx)
      await sessions.noteSeen(tx, seen)
    }
    this.#store.transaction(note).catch(() => undefined)
  }

  /** Ends an expired session in the database, so that setting a clock back cannot revive it. */
  async #markExpired({ id, userId }: SessionRecord): Promise<void> {
    const why = { by: undefined, reason: 'expired' }
    await this.#store
      .transaction(async (tx) => await endSessions(tx, { userId, which: { id } }, why))
      .catch(() => undefined)
  }
}

/** Ends sessions as part of a larger transaction; every node hears of it when the transaction commits. */
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
const keptMs = 30 * dayMs

function invalid(): Problem {
  return new Problem('session_invalid', 'The session is not valid. Sign in again.')
}

function ended(): Problem {
  return new Problem('session_ended', 'The session has ended. Sign in again.')
}
