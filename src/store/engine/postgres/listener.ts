import type { FeedMark } from '../../db/changes.ts'
import pg from 'pg'
import { connectTimeoutMs } from './pool.ts'
import type { ServerWatch } from './server-watch.ts'

const reconnectMs = 250

type OnHint = (upTo: FeedMark | undefined) => void

/** Listens for notifications (NOTIFY) on a dedicated connection, and reconnects until closed. */
export class PostgresListener {
  readonly #settings: pg.ClientConfig
  readonly #servers: ServerWatch
  #client: pg.Client | undefined
  #isClosed = false
  #isListening = false

  constructor(settings: pg.ClientConfig, servers: ServerWatch) {
    this.#settings = settings
    this.#servers = servers
  }

  /** Whether notifications arrive, as far as this process can tell: a connection may break without a sign. */
  get isListening(): boolean {
    return this.#isListening
  }

  start(onHint: OnHint): void {
    void this.#connect(onHint)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client?.end().catch(() => undefined)
  }

  async #connect(onHint: OnHint): Promise<void> {
    if (this.#isClosed) return
    const client = new pg.Client({
      ...this.#settings,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: undefined,
      query_timeout: undefined,
    })
    let isGone = false
    const again = (): void => {
      if (isGone) return
      isGone = true
      this.#isListening = false
      void client.end().catch(() => undefined)
      setTimeout(() => void this.#connect(onHint), reconnectMs).unref()
    }
    client.on('error', again)
    client.on('end', again)
    client.on('notification', ({ payload }) => onHint(markOf(payload)))
    this.#client = client
    try {
      await client.connect()
      await this.#servers.greet(client)
      await client.query('listen intercept_change')
      this.#isListening = !isGone
      onHint(undefined)
    } catch {
      again()
    }
  }
}

/** Parses `<sequence> <token>` of the last change; undefined without a token, which older versions do not send. */
function markOf(payload: string | undefined): FeedMark | undefined {
  const [sequence, token] = payload?.split(' ') ?? []
  return token === undefined ? undefined : { sequence: Number(sequence), token }
}
