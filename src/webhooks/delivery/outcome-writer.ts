import type { AttemptOutcome } from '../../store/index.ts'
import type { DeliveryWork, HealthOutcome } from './work.ts'

const outcomesInBatch = 256
const retryStoreMs = 250
// A commit with several outcomes is followed by a pause that leaves time for sending, so that the next commit carries
// more.
const several = 4
const enough = 96
const minPauseMs = 5
const maxPauseMs = 40

/** Endpoints in `lost` were not written, because this node no longer has their leases. */
export interface HealthsWritten {
  readonly written: readonly HealthOutcome[]
  readonly lost: readonly HealthOutcome[]
}

export interface OutcomeWriterDeps {
  readonly work: DeliveryWork
  readonly monotonic: () => number
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
  /** An endpoint's current lease and health; undefined if this node no longer sends to it. */
  readonly healthOf: (endpointId: string) => HealthOutcome | undefined
  /** Resolves once a lease search in progress has reported what it leased. */
  readonly leasesKnown: () => Promise<void>
  readonly onWritten: (batch: readonly AttemptOutcome[], healths: HealthsWritten) => void
}

/** Writes outcomes in batches, and retries a failed write until it succeeds. */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps
  readonly #waiting: AttemptOutcome[] = []
  readonly #counts = new Map<string, number>()
  #isWriting = false
  #haveEnough: (() => void) | undefined

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps
  }

  get unwritten(): number {
    return this.#waiting.length
  }

  unwrittenOf(endpointId: string): number {
    return this.#counts.get(endpointId) ?? 0
  }

  push(outcome: AttemptOutcome): void {
    const { endpointId } = outcome.delivery
    this.#waiting.push(outcome)
    this.#counts.set(endpointId, (this.#counts.get(endpointId) ?? 0) + 1)
    if (!this.#isWriting) void this.#writeAll()
    else if (this.#waiting.length >= enough) this.#haveEnough?.()
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      try {
        await this.#writeBatch()
      } catch (error) {
        this.#deps.onError(error)
        await this.#pause(retryStoreMs)
      }
    }
    this.#isWriting = false
  }

  async #writeBatch(): Promise<void> {
    const { healthOf, monotonic, onWritten } = this.#deps
    const batch = this.#waiting.slice(0, outcomesInBatch)
    const ids = new Set(batch.map(({ delivery }) => delivery.endpointId))
    const healths = [...ids].flatMap((id) => healthOf(id) ?? [])
    const startedAt = monotonic()
    const healthsWritten = await this.#write(batch, healths)
    const tookMs = monotonic() - startedAt
    this.#waiting.splice(0, batch.length)
    for (const { delivery } of batch) this.#discount(delivery.endpointId)
    onWritten(batch, healthsWritten)
    if (batch.length < several) return
    await this.#gather(Math.min(Math.max(2 * tookMs, minPauseMs), maxPauseMs))
  }

  async #write(
    outcomes: readonly AttemptOutcome[],
    healths: readonly HealthOutcome[],
  ): Promise<HealthsWritten> {
    const { work, leasesKnown, healthOf } = this.#deps
    const lost = await work.complete({ outcomes, healths })
    const written = healths.filter(({ endpoint }) => !lost.has(endpoint.id))
    if (lost.size === 0) return { written, lost: [] }
    // While the batch was being written, this node may have taken an expired lease again: wait until that is known.
    await leasesKnown()
    const gone: HealthOutcome[] = []
    const renewed: HealthOutcome[] = []
    for (const before of healths) {
      if (!lost.has(before.endpoint.id)) continue
      const now = healthOf(before.endpoint.id)
      if (now && now.endpoint.leaseToken !== before.endpoint.leaseToken) renewed.push(now)
      else gone.push(before)
    }
    if (renewed.length === 0) return { written, lost: gone }
    const again = await this.#write([], renewed)
    return { written: [...written, ...again.written], lost: [...gone, ...again.lost] }
  }

  async #gather(ms: number): Promise<void> {
    if (this.#waiting.length >= enough) return
    await new Promise<void>((resolve) => {
      const cancel = this.#deps.after(ms, resolve)
      this.#haveEnough = () => {
        cancel()
        resolve()
      }
    })
    this.#haveEnough = undefined
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#deps.after(ms, resolve))
  }

  #discount(endpointId: string): void {
    const left = this.unwrittenOf(endpointId) - 1
    if (left === 0) this.#counts.delete(endpointId)
    else this.#counts.set(endpointId, left)
  }
}
