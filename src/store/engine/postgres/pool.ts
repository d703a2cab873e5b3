import pg from 'pg'
import { MaybeCommittedError } from '../commit-outcome.ts'
import { createPreparedNames } from './prepared-names.ts'

// Callers must be refused within 5 s even while the server hangs: hence the short bounds.
/** Milliseconds within which a server must accept a connection. */
export const connectTimeoutMs = 3000
const defaultWaitMs = 4000
const names = createPreparedNames()

/**
 * Appended to a transaction's last statement, so that the server commits even if this process pauses or dies right
 * after sending it.
 */
export const andCommit = ';\ncommit'
// Kysely sends this text when a transaction has an access mode, which only queued jobs set.
const beginQueued = 'start transaction read write'
// Queued jobs look up and write rows by key, so one generic plan fits all values and table sizes. Otherwise PostgreSQL
// would plan again for long lists, or keep using a plan with a sequential scan that it made when the table was small.
const beginWithKeptPlans = `${beginQueued};
  set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off`

/**
 * Creates a pool of connections. One that breaks is replaced when a connection is next needed, and its error reaches
 * only the query that used it.
 */
export function openPool(given: pg.PoolConfig & { readonly waitMs?: number }): pg.Pool {
  const { waitMs = defaultWaitMs, ...settings } = given
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: waitMs,
    Client: PreparingClient,
  })
  pool.on('error', () => undefined)
  // A connection that is closing has no owner, so an unhandled error on it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/**
 * A client that keeps prepared statements on the server for the queries that queued jobs repeat. All other queries,
 * with arbitrary filters and limits, are planned for their own values.
 */
class PreparingClient extends pg.Client {
  #isQueued = false
  /**
   * Whether the last statement has already committed; the commit or rollback that Kysely sends next must then do
   * nothing.
   */
  #hasCommitted = false

  /**
   * Why the connection ended. Later errors of the driver say only that it has ended, so they never replace this reason.
   */
  #endedBy: unknown

  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
    this.on('error', (error) => void (this.#endedBy ??= error))
  }

  // The driver overloads this a dozen ways; all but one pass through unchanged.
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
      if (text === 'commit') return this.#commit(async () => await super.query(text)) as never
    }
    const name = this.#isQueued && values.length > 0 ? names.nameOf(text) : undefined
    const asked = name === undefined ? words : [{ name, text, values }]
    const answer = query(...asked) as Promise<unknown>
    return answer.catch((error: unknown) => {
      if (name !== undefined && isPlanGone(error)) names.giveUp(text)
      throw this.#reasonOf(error)
    }) as never
  }

  /**
   * Returns the underlying cause of a failure. Destroys a connection whose server hangs, so that no other query waits
   * on it.
   */
  #reasonOf(error: unknown): unknown {
    if (error instanceof Error && error.message === 'Query read timeout') this.#destroy()
    if (hasEndedConnection(error)) this.#endedBy ??= error
    return this.#endedBy ?? error
  }

  #destroy(): void {
    const { stream } = (this as unknown as { connection: { stream: { destroy(): void } } })
      .connection
    stream.destroy()
  }

  /** Runs the last statement together with its commit; returns the statement's own result. */
  async #finish(text: string): Promise<unknown> {
    const answers = await this.#commit(async () => await super.query(text))
    const [answer] = answers as unknown as pg.QueryResult[]
    this.#hasCommitted = true
    return answer
  }

  /**
   * Sends a commit. If it fails although the transaction may have been committed, throws `MaybeCommittedError` and ends
   * the connection.
   */
  async #commit<T>(send: () => Promise<T>): Promise<T> {
    const isTooLate = this.#endedBy !== undefined
    try {
      return await send()
    } catch (error) {
      const reason = this.#reasonOf(error)
      if (isTooLate || isRolledBack(reason)) throw reason
      // Kysely's rollback fails next, and the caller must get this error instead of the rollback's.
      this.#endedBy = new MaybeCommittedError('unknown', reason)
      this.#destroy()
      throw this.#endedBy
    }
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
      // If the message was cancelled after its first statement, the connection's next user would inherit an open
      // transaction.
      await super.query('rollback').catch(() => undefined)
      throw error
    }
  }
}

/**
 * Whether no more statements can follow, because the server ended the session or the error did not come from the
 * server.
 */
function hasEndedConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true
  // 25P03 idle_in_transaction_session_timeout; 57P01 to 57P05: shut down, crashed, dropped, idle for too long.
  return error.code === '25P03' || error.code?.startsWith('57P') === true
}

// The server, or a pooler in front of it, does not know whether the transaction was committed: class 08 and 40003
// statement_completion_unknown.
const unknownOutcome = /^(?:08|40003)/
// Classes of errors with which the server may end the session, possibly after it has committed: 53, 57P, 58 and XX.
const endsSession = /^(?:53|57P|58|XX)/

/** Whether a failed commit was certainly not made: it was never sent whole (EPIPE), or the server said so. */
function isRolledBack(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return (error as { code?: unknown }).code === 'EPIPE'
  const { code = '', severity } = error
  // A session survives an ERROR. A server set to another language translates that word; then only the code decides.
  const isOver = severity !== 'ERROR' && endsSession.test(code)
  return !isOver && !unknownOutcome.test(code)
}

/**
 * Whether the server cannot use a prepared statement: 0A000 after a schema change, or, behind a pooler that switched
 * connections, 26000 (the statement does not exist) or 42P05 (it exists already).
 */
export function isPlanGone(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return code === '0A000' || code === '26000' || code === '42P05'
}
