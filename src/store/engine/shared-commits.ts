import type { Change, Collected, Tx } from '../db/db.ts'
import { asStorageProblem } from './unavailable.ts'

const worksInCommit = 32
const gatherMs = 25

/** What has been committed of one work. */
interface Committed<T> {
  readonly result: T
  /** Those that the work collected, with their sequence. */
  readonly changes: Change[]
}

interface Job {
  readonly work: (tx: Tx) => Promise<unknown>
  readonly resolve: (done: Committed<unknown>) => void
  readonly reject: (error: unknown) => void
  /** Refuses it unless its turn comes before. */
  patience?: NodeJS.Timeout | undefined
}

/** Answers a work's caller after the commit; returns what nobody has told of yet. */
type Settle = (changes: readonly Change[], added: Change[]) => Change[]

/** A transaction that several works share. */
export interface SharedTransaction {
  readonly transaction: Tx
  readonly collected: Collected
  /** A place to go back to, for one work; a new one takes the place of the last. */
  mark(): Promise<void>
  /** Undoes what was done since the last mark. */
  goBack(): Promise<void>
}

/** What a database does for queued works. */
export interface CommitDeps {
  /** Commits what `works` do, with one ledger for all; answers the changes in the order of their drafts. */
  shared(works: (shared: SharedTransaction) => Promise<void>): Promise<Change[]>
  /** Commits one work by itself, tried again where that helps. */
  alone<T>(work: (tx: Tx) => Promise<T>): Promise<Committed<T>>
  /** Whether the same work may succeed when it is run again. */
  isWorthAnotherTry(error: unknown): boolean
  /** Milliseconds that only go forward. */
  monotonic(): number
  /** Milliseconds for which a work waits in its queue before it is refused; without, however long it takes. */
  readonly waitMs?: number | undefined
}

/** Works in queues. */
export interface CommitQueues {
  /** Runs a work in the queue of a name: one after the other, those that wait at the same time in one commit. */
  commit<T>(queue: string, work: (tx: Tx) => Promise<T>): Promise<Committed<T>>
  /** Waits until nobody is queued. */
  idle(): Promise<void>
}

/**
 * Works of one queue would wait for each other anyway, each for the locks or the disk of the one before. Here they share
 * a transaction, the lock of their organization's head, the ledger and the commit. Each can fail by itself; if the whole
 * fails, each is run again alone.
 */
export function createCommitQueues(deps: CommitDeps): CommitQueues {
  const queues = new Map<string, { readonly waiting: Job[]; readonly drained: Promise<void> }>()

  async function drain(name: string, waiting: Job[]): Promise<void> {
    while (waiting.length > 0) {
      // Lets everything that has already arrived queue up; works that follow each other without end, on SQLite without
      // anything to wait for, must leave the process its turns.
      await new Promise((resolve) => setImmediate(resolve))
      await commit(waiting)
    }
    queues.delete(name)
  }

  function wait(job: Job, waiting: Job[]): void {
    waiting.push(job)
    if (deps.waitMs === undefined) return
    job.patience = setTimeout(() => {
      const at = waiting.indexOf(job)
      if (at < 0) return
      waiting.splice(at, 1)
      job.reject(new Error('timeout exceeded when waiting in the queue'))
    }, deps.waitMs).unref()
  }

  async function commit(waiting: Job[]): Promise<void> {
    const taken: Job[] = []
    const settlements: Settle[] = []
    let collectedByWorks = 0
    try {
      const changes = await deps.shared(async (shared) => {
        const until = deps.monotonic() + gatherMs
        for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
          clearTimeout(job.patience)
          taken.push(job)
          settlements.push(await run(shared, job, taken.length === 1))
          // Whoever came while the last work was running comes along.
          if (taken.length >= worksInCommit || deps.monotonic() >= until) break
        }
        collectedByWorks = shared.collected.changes.length
      })
      // What the ledger has added, deliveries, concerns all of them: the first tells this node.
      let added = changes.slice(collectedByWorks)
      for (const settle of settlements) added = settle(changes, added)
    } catch (error) {
      const isUnattributed = taken.length > 1 && asStorageProblem(error) === undefined
      for (const job of taken) await fail(job, error, isUnattributed)
      // Nothing could even begin: whoever is queued would only wait as long for the same answer.
      if (taken.length === 0) for (const job of waiting.splice(0)) job.reject(error)
    }
  }

  /** Runs one of the works; what answers its caller is called after the commit, a refusal's reason being in it too. */
  async function run(shared: SharedTransaction, job: Job, isFirst: boolean): Promise<Settle> {
    const { collected, transaction } = shared
    const [audits, events, from] = lengths(collected)
    // The first has nobody before it: it goes back by giving the transaction up.
    if (!isFirst) await shared.mark()
    try {
      const result = await job.work(transaction)
      const upTo = collected.changes.length
      return (changes, added) => {
        job.resolve({ result, changes: [...changes.slice(from, upTo), ...added] })
        return []
      }
    } catch (error) {
      if (isFirst) throw error
      await shared.goBack()
      collected.audits.length = audits
      collected.events.length = events
      collected.changes.length = from
      return (_, added) => {
        // Nobody else waits for a work that is run again.
        void fail(job, error, false)
        return added
      }
    }
  }

  /** `isAnybodys`: nobody knows whose error it is. */
  async function fail(job: Job, error: unknown, isUnattributed: boolean): Promise<void> {
    if (!isUnattributed && !deps.isWorthAnotherTry(error)) return job.reject(error)
    await deps.alone(job.work).then(job.resolve, job.reject)
  }

  return {
    commit: async <T>(name: string, work: (tx: Tx) => Promise<T>) =>
      await new Promise<Committed<T>>((resolve, reject) => {
        const job: Job = { work, resolve: resolve as Job['resolve'], reject }
        const queue = queues.get(name)
        if (queue !== undefined) return wait(job, queue.waiting)
        const waiting: Job[] = [job]
        queues.set(name, { waiting, drained: drain(name, waiting) })
      }),
    async idle() {
      await Promise.all([...queues.values()].map(({ drained }) => drained))
    },
  }
}

function lengths({ audits, events, changes }: Collected): [number, number, number] {
  return [audits.length, events.length, changes.length]
}
