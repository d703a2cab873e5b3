import { createServer, type AddressInfo } from 'node:net'

/**
 * Finds a port that is free at the moment, for `PORT=0`, where our own URL must be known before listening. If `wanted`
 * is given, returns that port, or throws if it is in use.
 */
export async function freePort(host: string, wanted = 0): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port: wanted }, resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
