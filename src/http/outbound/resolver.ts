import { lookup } from 'node:dns'
import { OutboundError } from './outbound-error.ts'

/** Resolves a name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>

const rememberFailureMs = 2000
const namesInMemory = 10_000

/** The system's resolver (getaddrinfo, which also reads /etc/hosts). */
export async function systemResolve(host: string): Promise<readonly string[]> {
  return await new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, found) => {
      if (error) reject(error)
      else resolve(found.map(({ address }) => address))
    })
  })
}

/**
 * Runs one look-up per name at a time and remembers failures for two seconds: getaddrinfo has four threads for the
 * whole process, which names with unresponsive servers must not occupy. Successful results are never cached.
 */
export function createResolver(resolve: Resolve, nowMs: () => number): Resolve {
  const asking = new Map<string, Promise<readonly string[]>>()
  const failed = new Map<string, number>()

  return async (host) => {
    const failedAt = failed.get(host)
    if (failedAt !== undefined) {
      if (nowMs() - failedAt < rememberFailureMs) throw unresolved(host)
      failed.delete(host)
    }
    const running = asking.get(host)
    if (running) return await running
    const question = (async () => {
      try {
        const addresses = await resolve(host)
        if (addresses.length === 0) throw unresolved(host)
        return addresses
      } catch (error) {
        if (failed.size >= namesInMemory) failed.clear()
        failed.set(host, nowMs())
        throw error instanceof OutboundError ? error : unresolved(host, error)
      } finally {
        asking.delete(host)
      }
    })()
    asking.set(host, question)
    return await question
  }
}

function unresolved(host: string, cause?: unknown): OutboundError {
  return new OutboundError('dns', `the host name ${host} could not be resolved`, cause)
}
