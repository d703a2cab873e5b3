import {
  countRows,
  latencyBuckets,
  latencyBucketOf,
  type CallRecord,
  type CountRows,
} from '../store/index.ts'

const minuteMs = 60_000
const quarterMs = 15 * minuteMs
const dayMs = 86_400_000
// Beyond so many (the database is away, and ever new keys call), calls are no longer counted by their keys; beyond twice
// as many, those that have nothing in common with calls before them are not counted at all.
const maxCells = 10_000

/** Calls of one minute that had everything in common that is counted. */
interface Cell {
  readonly organizationId: string
  readonly minute: number
  readonly keyId: string
  readonly targetId: string
  readonly stoppedAt: string
  readonly refusal: string
  readonly status: number
  calls: number
  bytesIn: number
  bytesOut: number
  durationUs: number
  /** The calls, then those of each bucket of latency. */
  readonly sums: Float64Array
}

/** Counts calls by what charts ask for, exact whatever records are kept, until somebody takes the counts to write them. */
export class CallCounts {
  readonly #cells = new Map<string, Cell>()
  #last: Cell | undefined
  readonly #rules = new Rows()

  /** How many counts there are to take. */
  get size(): number {
    return Math.max(this.#cells.size, this.#rules.size)
  }

  /** Counts a call; false where there is no place to count it. */
  add(call: CallRecord): boolean {
    const cell = this.#cellOf(call)
    if (cell === undefined) return false
    cell.calls++
    cell.bytesIn += call.bytesIn
    cell.bytesOut += call.bytesOut
    cell.durationUs += call.durationUs
    const bucket = 1 + latencyBucketOf(call.durationUs)
    cell.sums[0] = cell.calls
    cell.sums[bucket] = (cell.sums[bucket] ?? 0) + 1
    if (call.ruleId !== undefined) this.#countRule(call, call.ruleId, [1, 0])
    if (call.trialRuleId !== undefined) this.#countRule(call, call.trialRuleId, [0, 1])
    return true
  }

  /** What was counted since the last time, oldest first and no more than so much of it, as rows to be added. */
  take(limit: number): CountRows[] {
    const [minutes, quarters, days] = [new Rows(), new Rows(), new Rows()]
    // It may be one of those taken.
    this.#last = undefined
    for (const cell of takeFirst(this.#cells, limit).values()) {
      const { organizationId: id, minute, keyId, targetId, stoppedAt } = cell
      minutes.add(`"${id}",${minute},"${targetId}","${stoppedAt}"`, minuteSums(cell))
      const quarter = minute - (minute % quarterMs)
      const day = minute - (minute % dayMs)
      const end = `"${stoppedAt}","${cell.refusal}",${cell.status}`
      // A call without a known target, and one that is not counted by its key, is the organization's alone.
      for (const subject of new Set(['', keyId, targetId])) {
        quarters.add(`"${id}","${subject}",${quarter},${end}`, cell.sums)
        days.add(`"${id}",${day},"${subject}",${end}`, [cell.calls])
      }
    }
    return [
      ...countRows('call_minute', minutes),
      ...countRows('call_quarter', quarters),
      ...countRows('call_day', days),
      ...countRows('rule_day', takeFirst(this.#rules, limit)),
    ]
  }

  #cellOf(call: CallRecord): Cell | undefined {
    const last = this.#last
    // Most calls are counted where the one before was.
    if (last !== undefined && belongsTo(last, call)) return last
    const { organizationId, status } = call
    const keyId = this.#cells.size < maxCells ? call.keyId : ''
    const [targetId, stoppedAt, refusal] = [call.targetId, call.stoppedAt, call.refusal].map(
      (value) => value ?? '',
    ) as [string, string, string]
    const minute = call.at - (call.at % minuteMs)
    const name = `${organizationId}${minute}${keyId}${targetId}${stoppedAt} ${refusal}${status}`
    let cell = this.#cells.get(name)
    if (cell === undefined) {
      if (this.#cells.size >= 2 * maxCells) return undefined
      const sums = new Float64Array(1 + latencyBuckets)
      const of = { organizationId, minute, keyId, targetId, stoppedAt, refusal, status }
      cell = { ...of, calls: 0, bytesIn: 0, bytesOut: 0, durationUs: 0, sums }
      this.#cells.set(name, cell)
    }
    this.#last = cell
    return cell
  }

  #countRule(call: CallRecord, ruleId: string, by: readonly [decided: number, would: number]) {
    this.#rules.add(`"${call.organizationId}","${ruleId}",${call.at - (call.at % dayMs)}`, by)
  }
}

/** The counts of these calls, as rows to be added. */
export function countsOf(calls: Iterable<CallRecord>): CountRows[] {
  const counts = new CallCounts()
  for (const call of calls) counts.add(call)
  return counts.take(Infinity)
}

/** Takes the first so many out of a map. */
function takeFirst<V>(map: Map<string, V>, limit: number): Map<string, V> {
  const taken = new Map<string, V>()
  for (const [name, value] of map) {
    if (taken.size >= limit) break
    taken.set(name, value)
    map.delete(name)
  }
  return taken
}

function belongsTo(cell: Cell, call: CallRecord): boolean {
  return (
    cell.keyId === call.keyId &&
    call.at >= cell.minute &&
    call.at < cell.minute + minuteMs &&
    cell.targetId === (call.targetId ?? '') &&
    cell.status === call.status &&
    cell.stoppedAt === (call.stoppedAt ?? '') &&
    cell.refusal === (call.refusal ?? '') &&
    cell.organizationId === call.organizationId
  )
}

type Sums = ArrayLike<number>

/** The sums of rows by their keys; a key is JSON of its values, which are ids, codes and numbers of ours. */
class Rows extends Map<string, Float64Array> {
  add(key: string, more: Sums): void {
    const sums = this.get(key)
    if (sums === undefined) this.set(key, Float64Array.from(more))
    else for (let at = 0; at < more.length; at++) sums[at] = (sums[at] ?? 0) + (more[at] ?? 0)
  }
}

function minuteSums({ calls, status, bytesIn, bytesOut, durationUs }: Cell): number[] {
  return [calls, status >= 500 ? calls : 0, bytesIn, bytesOut, durationUs]
}
