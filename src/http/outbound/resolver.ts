import { lookup } from 'node:dns'
import { hourMs } from '../../units.ts'
import { OutboundError } from './outbound-error.ts'

/** Resolves a name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>

const rememberFailureMs = 2000
const slowAfterMs = 1000
const rememberSlowMs = hourMs
// How long a look-up may wait for its turn: whoever asked for it has given up by then.
const maxWaitMs = 60_000
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
 * Creates a resolver that runs one look-up per name at a time and remembers failures for two seconds. Successful
 * results are never cached.
 */
export function createResolver(resolve: Resolve, nowMs: () => number): Resolve {
  const asking = new Map<string, Promise<readonly string[]>>()
  const failed = new Map<string, number>()
  const lookUps = new LookUps(resolve, nowMs)

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
        const addresses = await lookUps.ask(host)
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

/** What earlier look-ups of a name have shown. */
interface Known {
  /** How many look-ups took long, and when the last of those ended. */
  readonly slow: number
  readonly slowAt: number
  /** Whether the latest look-up found an address without taking long. */
  readonly isPrompt: boolean
}

const fresh: Known = { slow: 0, slowAt: Number.NEGATIVE_INFINITY, isPrompt: false }

/** A look-up that waits for its turn. */
interface Waiting {
  readonly host: string
  readonly since: number
  readonly start: () => void
  readonly giveUp: (error: Error) => void
}

/**
 * Looks up trusted names without waiting, and all others one after the other: getaddrinfo has few threads for the whole
 * process, and names with unresponsive servers must not occupy them all. A name is trusted if its latest look-up was
 * prompt and none took long during the last hour.
 */
class LookUps {
  readonly #resolve: Resolve
  readonly #nowMs: () => number
  readonly #known = new Map<string, Known>()
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(resolve: Resolve, nowMs: () => number) {
    this.#resolve = resolve
    this.#nowMs = nowMs
  }

  async ask(host: string): Promise<readonly string[]> {
    if (this.#isTrusted(host)) return await this.#lookUp(host)
    if (this.#isBusy) {
      const since = this.#nowMs()
      await new Promise<void>((start, giveUp) => {
        this.#waiting.push({ host, since, start, giveUp })
      })
    }
    this.#isBusy = true
    try {
      return await this.#lookUp(host)
    } finally {
      this.#isBusy = false
      this.#startNext()
    }
  }

  /**
   * Gives up look-ups that have waited too long, then starts the one whose name has been slow the fewest times, so that
   * slow names cannot delay the others again and again.
   */
  #startNext(): void {
    const earliest = this.#nowMs() - maxWaitMs
    const late = this.#waiting.filter(({ since }) => since < earliest)
    this.#waiting = this.#waiting.filter(({ since }) => since >= earliest)
    for (const { host, giveUp } of late) giveUp(unresolved(host))
    const slowness = ({ host }: { readonly host: string }): number => this.#knownOf(host).slow
    const [first] = this.#waiting
    if (first === undefined) return
    const next = this.#waiting.reduce(
      (best, one) => (slowness(one) < slowness(best) ? one : best),
      first,
    )
    this.#waiting = this.#waiting.filter((one) => one !== next)
    // Set before the look-up resumes, so that no other look-up can start in between.
    this.#isBusy = true
    next.start()
  }

  async #lookUp(host: string): Promise<readonly string[]> {
    const startedAt = this.#nowMs()
    let found: readonly string[] = []
    try {
      found = await this.#resolve(host)
      return found
    } finally {
      const endedAt = this.#nowMs()
      const isSlow = endedAt - startedAt > slowAfterMs
      const { slow, slowAt } = this.#knownOf(host)
      if (this.#known.size >= namesInMemory) this.#known.clear()
      this.#known.set(host, {
        slow: slow + (isSlow ? 1 : 0),
        slowAt: isSlow ? endedAt : slowAt,
        isPrompt: found.length > 0 && !isSlow,
      })
    }
  }

  #isTrusted(host: string): boolean {
    const { isPrompt, slowAt } = this.#knownOf(host)
    return isPrompt && this.#nowMs() - slowAt >= rememberSlowMs
  }

  #knownOf(host: string): Known {
    return this.#known.get(host) ?? fresh
  }
}

function unresolved(host: string, cause?: unknown): OutboundError {
  return new OutboundError('dns', `the host name ${host} could not be resolved`, cause)
}
