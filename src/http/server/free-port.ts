import { createServer, type AddressInfo } from 'node:net'

/**
 * A port that is currently free, for `PORT=0`, where our own URL must be known before listening. With a wanted port,
 * returns that one or throws.
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
