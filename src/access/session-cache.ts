import type { SessionId, UserId } from '../ids.ts'
import type { Feed, SessionWithUser } from '../store/index.ts'

const maxReads = 3

/** Sessions in use, as the database last told of them; the change feed takes them out again. */
export interface SessionCache {
  /** What is remembered, if it may be trusted at the moment. */
  find(digest: string): SessionWithUser | undefined
  /** Reads a row and remembers it, unless a change came in meanwhile. */
  readThrough(
    digest: string,
    read: () => Promise<SessionWithUser | undefined>,
  ): Promise<SessionWithUser | undefined>
  noteSeen(digest: string, atMs: number): void
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void
}

/** A memory of at most `capacity` sessions; the longest remembered are forgotten first. */
export function createSessionCache(feed: Feed, capacity: number): SessionCache {
  const byDigest = new Map<string, SessionWithUser>()
  const listeners = new Set<(sessionId: SessionId | undefined) => void>()
  // Counts changes, so that a read that overlaps one is not remembered.
  let generation = 0

  function forget(isMeant: (session: SessionWithUser) => boolean): void {
    generation += 1
    for (const [digest, session] of byDigest) if (isMeant(session)) byDigest.delete(digest)
  }

  function forgetAll(): void {
    forget(() => true)
    for (const heard of listeners) heard(undefined)
  }

  feed.on(
    'session',
    (change) => {
      const id = change.subjectId as SessionId
      forget((session) => session.id === id)
      for (const heard of listeners) heard(id)
    },
    forgetAll,
  )
  feed.on(
    'user',
    (change) => {
      const id = change.subjectId as UserId
      forget((session) => session.userId === id)
      for (const heard of listeners) heard(undefined)
    },
    forgetAll,
  )

  return {
    find: (digest) => (feed.isCurrent() ? byDigest.get(digest) : undefined),
    async readThrough(digest, read) {
      for (let reads = 1; ; reads++) {
        const before = generation
        const session = await read()
        if (before !== generation && reads < maxReads) continue
        byDigest.delete(digest)
        if (session && before === generation) {
          const [oldest] = byDigest.keys()
          if (byDigest.size >= capacity && oldest !== undefined) byDigest.delete(oldest)
          byDigest.set(digest, session)
        }
        return session
      }
    },
    noteSeen(digest, atMs) {
      const session = byDigest.get(digest)
      if (session) byDigest.set(digest, { ...session, lastSeenAt: atMs })
    },
    onChange(heard) {
      listeners.add(heard)
      return () => void listeners.delete(heard)
    },
  }
}
