import type { SessionId } from '../../ids.ts'
import { FeedCache, type Feed, type SessionWithUser } from '../../store/index.ts'

/**
 * Caches the sessions in use. Drops a session when the change feed reports that the session or its user has changed.
 */
export interface SessionCache {
  /** Returns a cached session; undefined if it is not cached or the change feed is not current. */
  peek(digest: string): SessionWithUser | undefined
  /** Like `peek`, but first proves the change feed after a time in which nobody needed it. */
  peekProven(digest: string): Promise<SessionWithUser | undefined>
  /** Reads a session and caches it; undefined if there is none. */
  read(digest: string): Promise<SessionWithUser | undefined>
  noteSeen(digest: string, atMs: number): void
  onChange(heard: (sessionId: SessionId | undefined) => void): () => void
}

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
    peekProven: async (digest) => await cache.peekProven(digest),
    read: async (digest) => await cache.read(digest),
    noteSeen: (digest, atMs) =>
      cache.replace(digest, (session) => ({ ...session, lastSeenAt: atMs })),
    onChange: (heard) =>
      cache.onChange((change) => heard(change?.kind === 'session' ? change.subjectId : undefined)),
  }
}
