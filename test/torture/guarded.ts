import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { intercept } from '../harness/terminal.ts'

/** Runs a command of the CLI and returns what it prints as JSON; throws its message if it fails. */
export async function command(
  env: Record<string, string>,
  ...words: string[]
): Promise<Record<string, string>> {
  const { code, out, err } = await intercept([...words, '--json'], { env })
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}${out}`)
  return JSON.parse(out) as Record<string, string>
}

export async function prepareGuarded(
  env: Record<string, string>,
  upstream: string,
): Promise<{ keyId: string; secret: string }> {
  await command(env, 'org', 'create', 'torture')
  await command(env, 'target', 'set', 'torture', 'up', '--upstream', upstream)
  const key = await command(env, 'key', 'issue', 'torture', '--name', 'torture')
  return { keyId: key['id'] ?? '', secret: key['secret'] ?? '' }
}

export interface LocalUpstream extends AsyncDisposable {
  readonly url: string
}

export async function startUpstream(handle: RequestListener): Promise<LocalUpstream> {
  const server = createServer(handle)
  server.keepAliveTimeout = 60_000
  return await listen(server)
}

export async function startRawUpstream(talk: (socket: Socket) => void): Promise<LocalUpstream> {
  return await listen(
    createTcpServer((socket) => {
      socket.on('error', () => socket.destroy())
      talk(socket)
    }),
  )
}

async function listen(server: Server): Promise<LocalUpstream> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
