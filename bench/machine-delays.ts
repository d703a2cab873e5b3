// Finds which calls the machine itself delayed (machine.ts), so that a peer is not judged by them.
import type { PacedSeen } from './gateway-paced.ts'

export interface Delays {
  /** Whether a call that was due at this time (in milliseconds of `monotonicMs`) was delayed. */
  include(dueMs: number): boolean
}

/** How long before and after it was seen a disturbance may have lasted: twice the interval of the watch. */
const aroundMs = 10
/** With so few open calls, the peer has caught up with those that waited. */
const fewOpen = 2
/** How long a peer may take to catch up; what waits longer counts, so that a slow peer cannot excuse itself. */
const longestCatchUpMs = 100

/** A delay lasts from just before a disturbance until just after it, and then until the peer has caught up. */
export function delaysOf(
  { dueMs, tookMs }: Pick<PacedSeen, 'dueMs' | 'tookMs'>,
  disturbedAtMs: readonly number[],
): Delays {
  const starts = dueMs.toSorted((a, b) => a - b)
  const ends = dueMs.map((due, at) => due + (tookMs[at] ?? 0)).toSorted((a, b) => a - b)
  const delays: { readonly fromMs: number; readonly toMs: number }[] = []
  for (const disturbedAt of disturbedAtMs.toSorted((a, b) => a - b)) {
    const isHeld = disturbedAt + aroundMs <= (delays.at(-1)?.toMs ?? 0)
    if (!isHeld) {
      const over = disturbedAt + aroundMs
      const toMs = Math.min(fewOpenFrom(starts, ends, over), over + longestCatchUpMs)
      delays.push({ fromMs: disturbedAt - aroundMs, toMs })
    }
  }
  return { include: (due) => delays.some(({ fromMs, toMs }) => due >= fromMs && due < toMs) }
}

/** Returns the first time from `fromMs` on at which only few calls are open. */
function fewOpenFrom(starts: readonly number[], ends: readonly number[], fromMs: number): number {
  let started = starts.findLastIndex((start) => start <= fromMs) + 1
  let ended = ends.findLastIndex((end) => end <= fromMs) + 1
  if (started - ended <= fewOpen) return fromMs
  while (ended < ends.length) {
    const end = ends[ended++] ?? 0
    while ((starts[started] ?? Infinity) <= end) started++
    if (started - ended <= fewOpen) return end
  }
  return ends.at(-1) ?? fromMs
}
