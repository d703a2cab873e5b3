import pg from 'pg'
import { createPreparedNames } from './prepared-names.ts'

// A server that does not answer is noticed soon; who waits for a connection because all are busy may wait longer, but
// not too long: where the server stands still, all are busy too, and everybody else is to be refused within 5 s.
/** Milliseconds within which a server must take a connection. */
export const connectTimeoutMs = 3000
const defaultWaitMs = 4000
const names = createPreparedNames()

/** Behind the last statement of a transaction: it commits in the same message, whatever happens to us then. */
export const andCommit = ';\ncommit'
// What Kysely says where a transaction has an access mode; those of queued works do, and no others.
const beginQueued = 'start transaction read write'
// Queued works look up and write rows by their keys. One plan fits all their values, however large the tables are or
// become: PostgreSQL would plan anew for fear of long lists, or go on to read a whole table that was short once.
const beginWithKeptPlans = `${beginQueued};
  set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off`

/** A pool whose broken connections are replaced at the next use: their errors reach whoever uses them, and nobody else. */
export function openPool(given: pg.PoolConfig & { readonly waitMs?: number }): pg.Pool {
  const { waitMs = defaultWaitMs, ...settings } = given
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: waitMs,
    Client: PreparingClient,
  })
  pool.on('error', () => undefined)
  // One that is just being closed belongs to nobody, and its error would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/**
 * A client that lets the server keep what it has parsed and planned of the statements which queued works run all the
 * time. Everything else, with filters and limits of any kind, is planned for its own values.
 */
class PreparingClient extends pg.Client {
  #isQueued = false
  /** The last statement has committed too: the driver's own commit has nothing left to do. */
  #hasCommitted = false

  /** What the server said before it ended the connection between two statements (25P03). */
  #endedBy: Error | undefined

  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
    this.on('error', (error) => {
      if ((error as { code?: unknown }).code === '25P03') this.#endedBy = error
    })
  }

  // The driver has a dozen forms of this; all but one pass through.
  override query(...words: unknown[]): never {
    const [text, values] = words
    const query = (...given: unknown[]): unknown =>
      (super.query as (...given: unknown[]) => unknown)(...given)
    if (words.length !== 2 || typeof text !== 'string' || !Array.isArray(values)) {
      return query(...words) as never
    }
    if (text === beginQueued) return this.#beginQueued() as never
    if (text.endsWith(andCommit)) return this.#finish(text) as never
    if (text === 'commit' || text === 'rollback') {
      this.#isQueued = false
      if (this.#hasCommitted) return this.#forget() as never
    }
    const name = this.#isQueued && values.length > 0 ? names.nameOf(text) : undefined
    const asked = name === undefined ? words : [{ name, text, values }]
    const answer = query(...asked) as Promise<unknown>
    return answer.catch((error: unknown) => {
      if (name !== undefined && isPlanGone(error)) names.giveUp(text)
      throw this.#reasonOf(error)
    }) as never
  }

  /** Why a statement failed; a connection whose server stands still is given up, so that nobody else waits on it. */
  #reasonOf(error: unknown): unknown {
    if (error instanceof Error && error.message === 'Query read timeout') {
      const { stream } = (this as unknown as { connection: { stream: { destroy(): void } } })
        .connection
      stream.destroy()
    }
    return this.#endedBy ?? error
  }

  /** Runs a last statement with its commit; answers what the statement did. */
  async #finish(text: string): Promise<unknown> {
    const [answer] = (await super.query(text)) as unknown as pg.QueryResult[]
    this.#hasCommitted = true
    return answer
  }

  async #forget(): Promise<unknown> {
    this.#hasCommitted = false
    return { command: 'COMMIT', rowCount: 0, rows: [], fields: [], oid: 0 }
  }

  async #beginQueued(): Promise<unknown> {
    try {
      const begun = await super.query(beginWithKeptPlans)
      this.#isQueued = true
      return begun
    } catch (error) {
      // Cancelled behind its first statement, it would leave a transaction that nobody ends to whoever comes next.
      await super.query('rollback').catch(() => undefined)
      throw error
    }
  }
}

/**
 * Whether the server can do nothing with a prepared statement: 0A000 after a change of the schema; behind a pooler that
 * hands out another connection 26000, or 42P05 where that one knows the statement already.
 */
export function isPlanGone(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return code === '0A000' || code === '26000' || code === '42P05'
}
