import type { Clock } from '../clock.ts'
import type { Fetch } from './answers.ts'
import { discover, type Provider } from './discovery.ts'
import { minuteMs } from '../units.ts'

const providerLifetimeMs = 10 * minuteMs
const failureLifetimeMs = 2_000
const maxProviders = 2_000

/**
 * Caches discovery documents for ten minutes, and failures for two seconds, so that a failing provider is not flooded.
 * With `fresh`, neither is read from the cache.
 */
export class ProviderCache {
  readonly #deps: {
    readonly fetch: Fetch
    readonly clock: Clock
    readonly allowLoopback: boolean
  }
  readonly #providers = new Map<string, { provider: Provider; at: number }>()
  readonly #failures = new Map<string, { error: unknown; at: number }>()
  readonly #running = new Map<string, Promise<Provider>>()

  constructor(deps: {
    readonly fetch: Fetch
    readonly clock: Clock
    readonly allowLoopback: boolean
  }) {
    this.#deps = deps
  }

  async find(issuer: string, { fresh }: { readonly fresh: boolean }): Promise<Provider> {
    if (!fresh) {
      const known = this.#providers.get(issuer)
      if (known && this.#isYoung(known.at, providerLifetimeMs)) return known.provider
      const failure = this.#failures.get(issuer)
      if (failure && this.#isYoung(failure.at, failureLifetimeMs)) throw failure.error
    }
    // Concurrent callers share one fetch, which has its own time limit.
    const running =
      this.#running.get(issuer) ?? this.#fetch(issuer).finally(() => this.#running.delete(issuer))
    this.#running.set(issuer, running)
    return await running
  }

  // A negative age means that the clock was set back.
  #isYoung(at: number, lifetimeMs: number): boolean {
    const age = this.#deps.clock.now() - at
    return age >= 0 && age < lifetimeMs
  }

  async #fetch(issuer: string): Promise<Provider> {
    const { fetch, clock, allowLoopback } = this.#deps
    try {
      const provider = await discover(issuer, { fetch, allowLoopback })
      if (this.#providers.size >= maxProviders) this.#providers.clear()
      this.#providers.set(issuer, { provider, at: clock.now() })
      this.#failures.delete(issuer)
      return provider
    } catch (error) {
      if (this.#failures.size >= maxProviders) this.#failures.clear()
      this.#failures.set(issuer, { error, at: clock.now() })
      throw error
    }
  }
}
