import { once } from 'node:events'
import type { Server } from 'node:http'

/** One of the demo's servers; listens on this machine only. */
export interface LocalServer extends AsyncDisposable {
  readonly url: string
}

/** Listens on a port of this machine; if that fails, or if the port is 0, listens on a free port. */
export async function listenLocally(server: Server, port: number): Promise<LocalServer> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    if (port === 0) throw error
    return await listenLocally(server, 0)
  }
  const { port: actual } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${actual}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
