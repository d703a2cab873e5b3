import type { AttemptOutcome } from '../../store/index.ts'
import type { DeliveryWork, HealthOutcome } from './work.ts'

const outcomesInBatch = 256
const retryStoreMs = 250
// A commit that carried several is followed by a pause: the time is for sending, and the next commit carries more. It
// ends when enough waits to be worth a commit. A commit that carried few is followed by the next at once.
const several = 4
const enough = 96
const pauseLeastMs = 5
const pauseMostMs = 40

/** Writes outcomes in batches: whatever ends while one batch is on its way to the disk shares the next. */
export interface OutcomeWriter {
  push(outcome: AttemptOutcome): void
  /** Outcomes of an endpoint that are not written yet. */
  unwrittenOf(endpointId: string): number
  readonly unwritten: () => number
}

/** What became of the healths of a batch; `lost` are under leases that hold no longer. */
export interface HealthsWritten {
  readonly written: readonly HealthOutcome[]
  readonly lost: readonly HealthOutcome[]
}

/** A writer that keeps what it could not write and tries again until it can. */
export function createOutcomeWriter(deps: {
  readonly work: DeliveryWork
  readonly monotonic: () => number
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
  /** An endpoint's lease and health as they are at this moment; undefined if this node no longer sends to it. */
  readonly healthOf: (endpointId: string) => HealthOutcome | undefined
  /** Resolves when a search for leases that is under way has told what it took. */
  readonly leasesKnown: () => Promise<void>
  /** A batch is on the disk. */
  readonly onWritten: (batch: readonly AttemptOutcome[], healths: HealthsWritten) => void
}): OutcomeWriter {
  const waiting: AttemptOutcome[] = []
  const counts = new Map<string, number>()
  let writing = false
  let haveEnough: (() => void) | undefined

  async function writeAll(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, outcomesInBatch)
      const ids = new Set(batch.map(({ delivery }) => delivery.endpointId))
      const healths = [...ids].flatMap((id) => deps.healthOf(id) ?? [])
      try {
        const startedAt = deps.monotonic()
        const what = await write(batch, healths)
        const tookMs = deps.monotonic() - startedAt
        waiting.splice(0, batch.length)
        for (const { delivery } of batch) discount(delivery.endpointId)
        deps.onWritten(batch, what)
        if (batch.length >= several) {
          await gather(Math.min(Math.max(2 * tookMs, pauseLeastMs), pauseMostMs))
        }
      } catch (error) {
        deps.onError(error)
        await pause(retryStoreMs)
      }
    }
    writing = false
  }

  async function write(
    outcomes: readonly AttemptOutcome[],
    healths: readonly HealthOutcome[],
  ): Promise<HealthsWritten> {
    const lost = await deps.work.complete({ outcomes, healths })
    const written = healths.filter(({ endpoint }) => !lost.has(endpoint.id))
    if (lost.size === 0) return { written, lost: [] }
    // A lease of ours that ran out may have been taken anew while the batch was on its way, and our knowing of it be
    // still on its way: its health counts.
    await deps.leasesKnown()
    const gone: HealthOutcome[] = []
    const renewed: HealthOutcome[] = []
    for (const before of healths) {
      if (!lost.has(before.endpoint.id)) continue
      const now = deps.healthOf(before.endpoint.id)
      if (now && now.endpoint.leaseToken !== before.endpoint.leaseToken) renewed.push(now)
      else gone.push(before)
    }
    if (renewed.length === 0) return { written, lost: gone }
    const again = await write([], renewed)
    return { written: [...written, ...again.written], lost: [...gone, ...again.lost] }
  }

  async function gather(ms: number): Promise<void> {
    if (waiting.length >= enough) return
    await new Promise<void>((resolve) => {
      const cancel = deps.after(ms, resolve)
      haveEnough = () => {
        cancel()
        resolve()
      }
    })
    haveEnough = undefined
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void deps.after(ms, resolve))
  }

  function discount(endpointId: string): void {
    const left = (counts.get(endpointId) ?? 1) - 1
    if (left === 0) counts.delete(endpointId)
    else counts.set(endpointId, left)
  }

  return {
    push(outcome) {
      const { endpointId } = outcome.delivery
      waiting.push(outcome)
      counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
      if (!writing) void writeAll()
      else if (waiting.length >= enough) haveEnough?.()
    },
    unwrittenOf: (endpointId) => counts.get(endpointId) ?? 0,
    unwritten: () => waiting.length,
  }
}
