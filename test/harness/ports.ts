import { createServer } from 'node:net'

// These ports are below the range that systems assign automatically, so nothing else gets one before its server listens.
// They start above 10080, which browsers block.
const first = 11_000
const blocks = 200
const portsInBlock = 100

let block: Promise<number> | undefined
let next = 1

/** Returns a port of 127.0.0.1 that is free, for a server whose address must be known before it listens. */
export async function portForTests(): Promise<number> {
  const start = await (block ??= claimBlock())
  for (let tries = 1; tries < portsInBlock; tries++) {
    const port = start + next
    next = (next % (portsInBlock - 1)) + 1
    if (await listens(port, 'for a moment')) return port
  }
  throw new Error(`none of the ports ${start + 1} to ${start + portsInBlock - 1} is free`)
}

/**
 * Test files run at the same time in processes of their own. Each has a block of ports to itself, whose first port it
 * listens on until it ends.
 */
async function claimBlock(): Promise<number> {
  for (let tries = 0; tries < blocks; tries++) {
    const start = first + ((process.pid + tries) % blocks) * portsInBlock
    if (await listens(start, 'until the end')) return start
  }
  throw new Error('other processes have all blocks of ports')
}

async function listens(port: number, howLong: 'for a moment' | 'until the end'): Promise<boolean> {
  const server = createServer()
  server.unref()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port }, () => {
      if (howLong === 'until the end') resolve(true)
      else server.close(() => resolve(true))
    })
  })
}
