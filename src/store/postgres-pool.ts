import pg from 'pg'
import { createPreparedNames } from './prepared-names.ts'

// A server that does not answer is noticed soon; who waits for a connection because all are busy may wait longer, but
// not too long: where the server stands still, all are busy too, and everybody else is to be refused within 5 s.
/** Milliseconds within which a server must take a connection. */
export const connectTimeoutMs = 3000
const inLineMs = 4000
// What is acknowledged is on the disk, also where the server's default is `off`. Stronger settings, as with replicas, stay.
const keepCommits = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') = 'off'`
const names = createPreparedNames()

/** A pool whose broken connections are replaced at the next use: their errors reach whoever uses them, and nobody else. */
export function openPool(settings: pg.PoolConfig): pg.Pool {
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
 * A client that lets the server keep what it has parsed and planned of the statements which transactions run all the
 * time: they look rows up by their keys, so that the plan is the same for all values. Reads outside of transactions,
 * with filters of any kind, are planned for their own values.
 */
class PreparingClient extends pg.Client {
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
    const name = this.getTransactionStatus() === 'T' ? names.nameOf(text) : undefined
    if (name === undefined) return query.apply(this, words) as never
    const answer = query.call(this, { name, text, values }) as Promise<unknown>
    return answer.catch((error: unknown) => {
      if (isPlanGone(error)) names.giveUp(text)
      throw error
    }) as never
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
