import { nextTurn } from '../../timers.ts'
import type { Change } from '../db/changes.ts'
import type { Collected, Tx } from '../db/db.ts'
import { asStorageProblem } from './unavailable.ts'

const worksInCommit = 32
const gatherMs = 25

interface Committed<T> {
  readonly result: T
  /**
   * The changes to announce: those that the job collected and, for one job of each commit, those that the ledger added.
   */
  readonly changes: Change[]
}

interface Job {
  readonly work: (tx: Tx) => Promise<unknown>
  /** Whether a power failure may undo the job, so that its commit need not wait for the disk. */
  readonly mayBeLost: boolean
  readonly resolve: (done: Committed<unknown>) => void
  readonly reject: (error: unknown) => void
  /** The timer that rejects the job if it waits too long in the queue. */
  patience?: NodeJS.Timeout | undefined
}

/**
 * Settles a job after the commit. `added` are the ledger's own changes that no job has announced yet; returns those
 * that are still to be announced.
 */
type Settle = (changes: readonly Change[], added: Change[]) => Change[]

/** A transaction that several jobs share, and what they have collected so far. */
export interface SharedTransaction {
  readonly transaction: Tx
  readonly collected: Collected
  /** Sets the savepoint to which `goBack` returns; called before each job except the first. */
  mark(): Promise<void>
  goBack(): Promise<void>
}

/** The operations that queued jobs need from a database. */
export interface CommitDeps {
  /**
   * Runs several jobs in one commit, for which the ledger is written once; returns the changes in the order of their
   * drafts.
   */
  shared(works: (shared: SharedTransaction) => Promise<void>, mayBeLost: boolean): Promise<Change[]>
  /** Commits one job by itself, retrying where a retry can help. */
  alone<T>(work: (tx: Tx) => Promise<T>): Promise<Committed<T>>
  /** Whether the same job may succeed when run again. */
  isWorthAnotherTry(error: unknown): boolean
  /** Returns the time of a monotonic clock, in milliseconds. */
  monotonic(): number
  /** Milliseconds that a job may wait in its queue before it is refused; undefined means without limit. */
  readonly waitMs?: number | undefined
}

/**
 * Runs the jobs of a queue one after the other; jobs that wait at the same time share one transaction, because they
 * would wait for each other's locks or disk writes anyway. If that transaction fails, each of its jobs is retried alone
 * where that can help.
 */
export class CommitQueues {
  readonly #deps: CommitDeps
  readonly #queues = new Map<string, { readonly waiting: Job[]; readonly drained: Promise<void> }>()

  constructor(deps: CommitDeps) {
    this.#deps = deps
  }

  async commit<T>(
    name: string,
    work: (tx: Tx) => Promise<T>,
    mayBeLost = false,
  ): Promise<Committed<T>> {
    return await new Promise<Committed<T>>((resolve, reject) => {
      const job: Job = { work, mayBeLost, resolve: resolve as Job['resolve'], reject }
      const queue = this.#queues.get(name)
      if (queue !== undefined) return this.#wait(job, queue.waiting)
      const waiting: Job[] = [job]
      this.#queues.set(name, { waiting, drained: this.#drain(name, waiting) })
    })
  }

  /** Waits until no job is queued. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ drained }) => drained))
  }

  async #drain(name: string, waiting: Job[]): Promise<void> {
    while (waiting.length > 0) {
      // Lets every job that has already arrived join the queue. SQLite's driver never yields to the event loop, so
      // without this an endless stream of jobs would block the loop.
      await nextTurn()
      await this.#commitTogether(waiting)
    }
    this.#queues.delete(name)
  }

  #wait(job: Job, waiting: Job[]): void {
    waiting.push(job)
    if (this.#deps.waitMs === undefined) return
    job.patience = setTimeout(() => {
      const at = waiting.indexOf(job)
      if (at < 0) return
      waiting.splice(at, 1)
      job.reject(new Error('timeout exceeded when waiting in the queue'))
    }, this.#deps.waitMs).unref()
  }

  async #commitTogether(waiting: Job[]): Promise<void> {
    const taken: Job[] = []
    const settlements: Settle[] = []
    let collectedByWorks = 0
    const mayBeLost = waiting[0]?.mayBeLost === true
    try {
      const changes = await this.#deps.shared(async (shared) => {
        const until = this.#deps.monotonic() + gatherMs
        for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
          clearTimeout(job.patience)
          taken.push(job)
          settlements.push(await this.#run(shared, job, taken.length === 1))
          // Within these limits, jobs that arrived meanwhile join this commit.
          if (taken.length >= worksInCommit || this.#deps.monotonic() >= until) break
          // A durable job must not join a commit that skips the wait for the disk.
          if (mayBeLost && waiting[0]?.mayBeLost === false) break
        }
        collectedByWorks = shared.collected.changes.length
      }, mayBeLost)
      // Changes added by the ledger (deliveries) belong to all the jobs, so the first job that succeeds announces them
      // on this node.
      let added = changes.slice(collectedByWorks)
      for (const settle of settlements) added = settle(changes, added)
    } catch (error) {
      const isUnattributed = taken.length > 1 && asStorageProblem(error) === undefined
      for (const job of taken) await this.#fail(job, error, isUnattributed)
      // The transaction could not even begin, so the remaining jobs would only wait for the same refusal.
      if (taken.length === 0) for (const job of waiting.splice(0)) job.reject(error)
    }
  }

  /** Runs one of the jobs and returns a function that settles the job after the commit. */
  async #run(shared: SharedTransaction, job: Job, isFirst: boolean): Promise<Settle> {
    const { collected, transaction } = shared
    const [audits, events, from] = lengths(collected)
    // The first job needs no savepoint: if it fails, the whole transaction is abandoned.
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
        // The other jobs need not wait for the retry.
        void this.#fail(job, error, false)
        return added
      }
    }
  }

  /**
   * Rejects or retries a job; `isUnattributed` means that any job of the shared transaction may have caused the error.
   */
  async #fail(job: Job, error: unknown, isUnattributed: boolean): Promise<void> {
    if (!isUnattributed && !this.#deps.isWorthAnotherTry(error)) return job.reject(error)
    await this.#deps.alone(job.work).then(job.resolve, job.reject)
  }
}

function lengths({ audits, events, changes }: Collected): [number, number, number] {
  return [audits.length, events.length, changes.length]
}
