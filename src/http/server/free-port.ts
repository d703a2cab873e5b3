import { createServer, type AddressInfo } from 'node:net'

/**
 * A port that is free now: for `PORT=0`, where our own address must be known before we listen. With a wanted port it
 * is that one, or an error.
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
