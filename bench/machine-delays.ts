// Finds which calls a slow machine delayed, so that a peer is not judged by them.
import type { PacedSeen } from './gateway-paced.ts'

export interface Delays {
  /** Whether a call that was due at this time was delayed, in milliseconds of `monotonicMs`. */
  hold(dueMs: number): boolean
}

/** How long before it was seen a core may have been slow, and how long after: at least twice as long as it is looked at. */
const aroundMs = 10
/** With this many open calls, those that waited while a core was slow have been answered. */
const fewOpen = 2

/** A delay lasts from just before a core was slow until just after it, and then until only few calls are open. */
export function delaysOf({ dueMs, tookMs }: PacedSeen, slowAtMs: readonly number[]): Delays {
  const starts = dueMs.toSorted((a, b) => a - b)
  const ends = dueMs.map((due, at) => due + (tookMs[at] ?? 0)).toSorted((a, b) => a - b)
  const delays: { readonly fromMs: number; readonly toMs: number }[] = []
  for (const slowAt of slowAtMs.toSorted((a, b) => a - b)) {
    const isHeld = slowAt + aroundMs <= (delays.at(-1)?.toMs ?? 0)
    if (!isHeld) {
      delays.push({ fromMs: slowAt - aroundMs, toMs: fewOpenFrom(starts, ends, slowAt + aroundMs) })
    }
  }
  return { hold: (due) => delays.some(({ fromMs, toMs }) => due >= fromMs && due < toMs) }
}

/** Returns the first time from `fromMs` on at which only few calls are open; infinite if there is none. */
function fewOpenFrom(starts: readonly number[], ends: readonly number[], fromMs: number): number {
  let started = starts.findLastIndex((start) => start <= fromMs) + 1
  let ended = ends.findLastIndex((end) => end <= fromMs) + 1
  if (started - ended <= fewOpen) return fromMs
  while (ended < ends.length) {
    const end = ends[ended++] ?? 0
    while ((starts[started] ?? Infinity) <= end) started++
    if (started - ended <= fewOpen) return end
  }
  return Infinity
}
