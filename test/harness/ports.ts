import { createServer } from 'node:net'

// Below the range from which systems take ports for whoever asks for any port, so that no other test, browser or
// connection gets one of these before its server listens. Browsers refuse to call port 10080.
const first = 11_000
const blocks = 200
const portsInBlock = 100

/** Test files run at the same time in processes of their own, so each process has its own block of ports. */
const block = first + (process.pid % blocks) * portsInBlock
let next = 0

/** Returns a port of 127.0.0.1 that is free, for a server whose address must be known before it listens. */
export async function portForTests(): Promise<number> {
  for (let tries = 0; tries < portsInBlock; tries++) {
    const port = block + (next++ % portsInBlock)
    if (await isFree(port)) return port
  }
  throw new Error(`none of the ports ${block} to ${block + portsInBlock - 1} is free`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port }, () => server.close(() => resolve(true)))
  })
}
