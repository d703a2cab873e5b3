import type { SessionId } from '../../ids.ts'
import { FeedCache, type Feed, type SessionWithUser } from '../../store/index.ts'

/** Sessions in use, as the database last told of them; the change feed takes them out again. */
export interface SessionCache {
  /** What is remembered, if it may be trusted at the moment. */
  peek(digest: string): SessionWithUser | undefined
  /** Reads a session and remembers it, unless a change came in meanwhile. */
  read(digest: string): Promise<SessionWithUser | undefined>
  noteSeen(digest: string, atMs: number): void
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void
}

/** A cache of at most `capacity` sessions; the longest remembered are forgotten first. */
export function createSessionCache(deps: {
  readonly feed: Feed
  readonly capacity: number
  readonly read: (digest: string) => Promise<SessionWithUser | undefined>
}): SessionCache {
  const cache = new FeedCache<SessionWithUser>({
    ...deps,
    subjectsOf: ({ id, userId }) => [id, userId],
    forgets: {
      session: ({ subjectId }) => subjectId,
      user: ({ subjectId }) => subjectId,
    },
  })
  return {
    peek: (digest) => cache.peek(digest),
    read: async (digest) => await cache.read(digest),
    noteSeen: (digest, atMs) =>
      cache.replace(digest, (session) => ({ ...session, lastSeenAt: atMs })),
    onChange: (heard) =>
      cache.onChange((change) => heard(change?.kind === 'session' ? change.subjectId : undefined)),
  }
}
