import type { Change } from '../db/changes.ts'
import type { Collected, Tx } from '../db/db.ts'
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
  /** A loss of power may take it back: it waits for no disk. */
  readonly mayBeLost: boolean
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
  shared(works: (shared: SharedTransaction) => Promise<void>, mayBeLost: boolean): Promise<Change[]>
  /** Commits one work by itself, tried again where that helps. */
  alone<T>(work: (tx: Tx) => Promise<T>): Promise<Committed<T>>
  /** Whether the same work may succeed when it is run again. */
  isWorthAnotherTry(error: unknown): boolean
  /** Milliseconds that only go forward. */
  monotonic(): number
  /** Milliseconds for which a work waits in its queue before it is refused; without, however long it takes. */
  readonly waitMs?: number | undefined
}

/**
 * Runs the works of a queue one after the other. They would wait for each other anyway, each for the locks or the disk
 * of the one before; here those that wait at the same time share a transaction, the lock of their organization's head,
 * the ledger and the commit. Each can fail by itself; if the whole fails, each is run again alone.
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

  /** Waits until nobody is queued. */
  async idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map(({ drained }) => drained))
  }

  async #drain(name: string, waiting: Job[]): Promise<void> {
    while (waiting.length > 0) {
      // Lets everything that has already arrived queue up. On SQLite nothing else is awaited: without this, works that
      // follow each other without end would block the event loop.
      await new Promise((resolve) => setImmediate(resolve))
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
          // Works that arrived while the last one ran join this commit.
          if (taken.length >= worksInCommit || this.#deps.monotonic() >= until) break
          // What must not be lost has a commit that waits for the disk.
          if (mayBeLost && waiting[0]?.mayBeLost === false) break
        }
        collectedByWorks = shared.collected.changes.length
      }, mayBeLost)
      // What the ledger has added, deliveries, concerns all of them: the first tells this node.
      let added = changes.slice(collectedByWorks)
      for (const settle of settlements) added = settle(changes, added)
    } catch (error) {
      const isUnattributed = taken.length > 1 && asStorageProblem(error) === undefined
      for (const job of taken) await this.#fail(job, error, isUnattributed)
      // Nothing could even begin: whoever is queued would only wait as long for the same refusal.
      if (taken.length === 0) for (const job of waiting.splice(0)) job.reject(error)
    }
  }

  /** Runs one of the works; what it returns is called after the commit and settles the work's caller. */
  async #run(shared: SharedTransaction, job: Job, isFirst: boolean): Promise<Settle> {
    const { collected, transaction } = shared
    const [audits, events, from] = lengths(collected)
    // The first work needs no savepoint: if it fails, the whole transaction is given up.
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
        void this.#fail(job, error, false)
        return added
      }
    }
  }

  /** `isUnattributed`: any of the works that shared the transaction may have caused the error. */
  async #fail(job: Job, error: unknown, isUnattributed: boolean): Promise<void> {
    if (!isUnattributed && !this.#deps.isWorthAnotherTry(error)) return job.reject(error)
    await this.#deps.alone(job.work).then(job.resolve, job.reject)
  }
}

function lengths({ audits, events, changes }: Collected): [number, number, number] {
  return [audits.length, events.length, changes.length]
}
