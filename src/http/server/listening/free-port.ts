import { createServer, type AddressInfo } from 'node:net'

/**
 * Returns a port that is free at the moment, for a URL that must be known before its server listens. If `wanted` is
 * given, returns that port, or throws if it is in use.
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
