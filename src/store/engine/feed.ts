import type { Clock } from '../../clock.ts'
import type { Change, ChangeKind, Connection } from '../db/db.ts'
import type { EngineHandle } from './engine.ts'

const trustMs = 1000
const changesInPage = 1000
const rememberedOwn = 10_000
// The table keeps changes for an hour: whoever has not read for half of that starts afresh.
const resetAfterMs = 30 * 60 * 1000

/** How a node hears what was committed, by itself and by others. */
export interface Feed {
  /** Calls back for each change of a kind; `reset` when changes may have been missed: forget everything. */
  on(kind: ChangeKind, heard: (change: Change) => void, reset: () => void): void
  /** Whether the feed was read within the last second: only then may caches be trusted. */
  isCurrent(): boolean
  /** Reads the feed now; rejects if the database does not answer. */
  read(): Promise<void>
  /** How far this node has read. */
  sequence(): number
}

/** The feed with what only the store itself calls. */
export interface OwnFeed extends Feed {
  start(): Promise<void>
  /** What this process has just committed: heard before the transaction's promise resolves. */
  heardOwn(changes: readonly Change[]): void
  /** Is called after changes of others were heard, with the last sequence. */
  onForeign(confirm: (sequence: number) => void): void
  stop(): void
}

/** SQLite is asked every 5 ms (1 µs each), PostgreSQL every 200 ms besides its notifications. */
export function createFeed(handle: EngineHandle, clock: Clock): OwnFeed {
  const listeners = new Map<ChangeKind, { heard: (change: Change) => void; reset: () => void }[]>()
  const own = new Set<number>()
  const pollMs = handle.engine === 'sqlite' ? 5 : 200
  let confirm: (sequence: number) => void = () => undefined
  let last = 0
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let again = false
  let unread = false
  let timer: NodeJS.Timeout | undefined

  function tell(change: Change): void {
    for (const listener of listeners.get(change.kind) ?? []) listener.heard(change)
  }

  async function readOnce(): Promise<void> {
    const startedAt = clock.monotonic()
    if (startedAt - readAt > resetAfterMs) {
      last = await lastSequence(handle.apart)
      for (const listener of [...listeners.values()].flat()) listener.reset()
    }
    unread ||= await handle.hasForeignCommit()
    if (unread || own.size > rememberedOwn) {
      const foreign = await readChanges()
      unread = false
      if (foreign) confirm(last)
    }
    readAt = startedAt
  }

  /** Whether anything was committed by others. */
  async function readChanges(): Promise<boolean> {
    let foreign = false
    for (;;) {
      const rows = await listAfter(handle.apart, last)
      for (const change of rows) {
        last = change.sequence
        if (own.delete(change.sequence)) continue
        // Deliveries are sent by whoever comes first: nobody waits until all nodes have heard of them.
        foreign ||= change.kind !== 'delivery'
        tell(change)
      }
      if (rows.length < changesInPage) return foreign
    }
  }

  async function read(): Promise<void> {
    if (reading) {
      again = true
      return await reading
    }
    reading = (async () => {
      try {
        do {
          again = false
          await readOnce()
        } while (again)
      } finally {
        reading = undefined
      }
    })()
    return await reading
  }

  function poll(): void {
    // What cannot be read shows as a feed that is not current.
    void read().catch(() => undefined)
  }

  /** A notification; of what this node has committed itself there is nothing to read. */
  function hinted(sequence: number | undefined): void {
    // It may come a moment before our own commit's answer.
    setImmediate(() => {
      if (sequence === undefined || !skipOwn(sequence)) poll()
    })
  }

  /** Steps over changes up to a sequence if all of them are our own. */
  function skipOwn(sequence: number): boolean {
    if (reading) return false
    for (let at = last + 1; at <= sequence; at++) if (!own.has(at)) return false
    for (; last < sequence; last++) own.delete(last + 1)
    return true
  }

  return {
    on(kind, heard, reset) {
      const list = listeners.get(kind) ?? []
      list.push({ heard, reset })
      listeners.set(kind, list)
    },
    isCurrent: () => clock.monotonic() - readAt < trustMs,
    read,
    sequence: () => last,
    async start() {
      last = await lastSequence(handle.apart)
      readAt = clock.monotonic()
      handle.listen(hinted)
      timer = setInterval(poll, pollMs).unref()
    },
    heardOwn(changes) {
      for (const change of changes) {
        // The feed may have read it in the moment before the commit's answer came: then it is told.
        if (change.sequence <= last) continue
        own.add(change.sequence)
        tell(change)
      }
    },
    onForeign(callback) {
      confirm = callback
    },
    stop() {
      clearInterval(timer)
    },
  }
}

async function lastSequence(at: Pick<Connection, 'query'>): Promise<number> {
  const row = await at.query
    .selectFrom('change')
    .select((eb) => eb.fn.max('sequence').as('last'))
    .executeTakeFirst()
  return row?.last ?? 0
}

async function listAfter(at: Pick<Connection, 'query'>, sequence: number): Promise<Change[]> {
  const rows = await at.query
    .selectFrom('change')
    .select(['sequence', 'kind', 'organization_id', 'subject_id'])
    .where('sequence', '>', sequence)
    .orderBy('sequence')
    .limit(changesInPage)
    .execute()
  return rows.map((row) => ({
    sequence: row.sequence,
    kind: row.kind as ChangeKind,
    organizationId: row.organization_id,
    subjectId: row.subject_id,
  }))
}
