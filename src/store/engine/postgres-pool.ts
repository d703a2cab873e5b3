import pg from 'pg'
import { createPreparedNames } from './prepared-names.ts'

// A server that does not answer is noticed soon; who waits for a connection because all are busy may wait longer, but
// not too long: where the server stands still, all are busy too, and everybody else is to be refused within 5 s.
/** Milliseconds within which a server must take a connection. */
export const connectTimeoutMs = 3000
const usualInLineMs = 4000
// What is acknowledged is on the disk, also where the server's default is `off`. Stronger settings, as with replicas, stay.
const keepCommits = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') = 'off'`
const names = createPreparedNames()

// What Kysely says where a transaction has an access mode; those of works in line do, and no others.
const beginInLine = 'start transaction read write'
// Works in line look up and write rows by their keys. One plan fits all their values, however large the tables are or
// become: PostgreSQL would plan anew for fear of long lists, or go on to read a whole table that was short once.
const beginWithKeptPlans = `${beginInLine};
  set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off`

/** A pool whose broken connections are replaced at the next use: their errors reach whoever uses them, and nobody else. */
export function openPool(given: pg.PoolConfig & { readonly inLineMs?: number }): pg.Pool {
  const { inLineMs = usualInLineMs, ...settings } = given
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: inLineMs,
    Client: PreparingClient,
  })
  pool.on('error', () => undefined)
  // One that is just being closed belongs to nobody, and its error would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  pool.on('connect', (client) => void client.query(keepCommits).catch(() => undefined))
  return pool
}

/**
 * A client that lets the server keep what it has parsed and planned of the statements which works in line run all the
 * time. Everything else, with filters and limits of any kind, is planned for its own values.
 */
class PreparingClient extends pg.Client {
  #isInLine = false

  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
  }

  // The driver has a dozen forms of this; all but one pass through.
  override query(...words: unknown[]): never {
    const [text, values] = words
    const query = super.query as (...words: unknown[]) => unknown
    if (words.length !== 2 || typeof text !== 'string' || !Array.isArray(values)) {
      return query.apply(this, words) as never
    }
    if (text === beginInLine) return this.#beginInLine() as never
    if (text === 'commit' || text === 'rollback') this.#isInLine = false
    const name = this.#isInLine && values.length > 0 ? names.nameOf(text) : undefined
    if (name === undefined) return query.apply(this, words) as never
    const answer = query.call(this, { name, text, values }) as Promise<unknown>
    return answer.catch((error: unknown) => {
      if (isPlanGone(error)) names.giveUp(text)
      throw error
    }) as never
  }

  async #beginInLine(): Promise<unknown> {
    try {
      const begun = await super.query(beginWithKeptPlans)
      this.#isInLine = true
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
