import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy to PostgreSQL that can disturb the connections. */
export interface DatabaseProxy extends AsyncDisposable {
  readonly url: string
  /** Closes all connections and refuses new ones. */
  cut(): void
  /** Silently drops everything that is sent in either direction. */
  blackHole(): void
  /**
   * Closes all connections. Once a new connection has sent this text, drops everything after it: the statement is
   * executed, but its response never arrives.
   */
  blackHoleAfter(words: string): void
  /** How many connections have sent the text after which everything is dropped. */
  lost(): number
  /**
   * Closes a connection when the response to a statement with this text reaches the proxy: the statement is executed,
   * but the client never gets the response.
   */
  cutAfter(words: string): void
  delay(ms: number): void
  heal(): void
}

/** Starts a proxy to a PostgreSQL server that listens on a Unix socket. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const to = new URL(databaseUrl)
  const port = to.port || (to.searchParams.get('port') ?? '5432')
  const path = `${to.searchParams.get('host') ?? ''}/.s.PGSQL.${port}`
  const sockets = new Set<Socket>()
  let mode: 'open' | 'cut' | 'lost' = 'open'
  let delayMs = 0
  let fatalWords: string | undefined
  let isCutThen = false
  let lost = 0

  const server = createServer((client) => {
    if (mode === 'cut') return void client.destroy()
    const database = connect(path)
    const way = { isLost: false }
    pass(client, database, way)
    pass(database, client, way)
    client.on('data', (chunk) => {
      if (fatalWords === undefined || way.isLost || !chunk.includes(fatalWords)) return
      way.isLost = true
      lost += 1
    })
  })

  function pass(from: Socket, to: Socket, way: { isLost: boolean }): void {
    sockets.add(from)
    from.on('data', (chunk) => {
      const forward = (): void => void (to.destroyed || to.write(chunk))
      if (way.isLost && isCutThen) return void from.destroy()
      if (mode !== 'open' || way.isLost) return
      if (delayMs === 0) forward()
      else setTimeout(forward, delayMs)
    })
    from.on('error', () => from.destroy())
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  function destroyAll(): void {
    for (const socket of sockets) socket.destroy()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.search = ''
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    cut() {
      mode = 'cut'
      destroyAll()
    },
    blackHole: () => void (mode = 'lost'),
    blackHoleAfter(words) {
      fatalWords = words
      isCutThen = false
      destroyAll()
    },
    lost: () => lost,
    cutAfter(words) {
      fatalWords = words
      isCutThen = true
    },
    delay: (ms) => void (delayMs = ms),
    heal() {
      const wasOpen = mode === 'open' && (fatalWords === undefined || isCutThen)
      mode = 'open'
      delayMs = 0
      fatalWords = undefined
      // Connections that have lost bytes can't be used any more, so clients must open new ones.
      if (!wasOpen) destroyAll()
    },
    async [Symbol.asyncDispose]() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
