import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeHttp } from '../message/node-http.ts'
import { DirectRequest } from './direct-request.ts'
import { isWebSocket } from './framing.ts'
import type { FrontLimits } from './front-deps.ts'
import { listenBacklog } from './listening/stop-accepting.ts'

export type FrontServer = Server<typeof DirectRequest>

/** Creates the server of node:http that reads what the plain lane does not. */
export function createServer(limits: FrontLimits): FrontServer {
  return nodeHttp.createServer<typeof DirectRequest>({
    IncomingMessage: DirectRequest,
    requireHostHeader: false,
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    optimizeEmptyRequests: true,
    noDelay: true,
    shouldUpgradeCallback: isWebSocket,
  })
}

/** Resolves when the server listens; rejects with the system's error if it cannot. */
export async function listen(
  server: FrontServer,
  where: { host: string; port: number },
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...where, backlog: listenBacklog }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

/** Renders an address as in a URL. */
export function addressText(address: AddressInfo): string {
  return address.family === 'IPv6' ? `[${address.address}]` : address.address
}
