import {
  countRows,
  latencyBuckets,
  latencyBucketOf,
  type CallRecord,
  type CountRows,
} from '../store/index.ts'
import { dayMs, minuteMs, quarterHourMs } from '../units.ts'

// Bounds memory while the database is unreachable. Once this many cells exist, calls are no longer counted per key; at
// twice as many, a call that would need a new cell is not counted at all.
const maxCells = 10_000
// The columns of a rule's row, and how many there are.
const [decided, wouldRefuse, ruleColumns] = [0, 1, 2]

/** The counts of one minute's calls that have the same organization, key, target, check, refusal and status. */
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
  /** The number of calls, followed by the number in each latency bucket. */
  readonly sums: Float64Array
}

/** The counts of one rule and day: the calls it decided, and those it would have refused while on trial. */
interface RuleCell {
  readonly organizationId: string
  readonly day: number
  readonly sums: Float64Array
}

/**
 * Counts calls in memory until the counts are taken and written to the database. Calls that leave no record are counted
 * too, so that charts include them.
 */
export class CallCounts {
  readonly #cells = new Map<string, Cell>()
  #last: Cell | undefined
  readonly #rules = new Rows()
  /** The cell of each rule's latest call. Looking it up in `#rules` would cost more than counting the call. */
  readonly #latestOfRule = new Map<string, RuleCell>()

  /** The number of counts of calls or of rules, whichever is larger. `take` with this limit returns all counts. */
  get size(): number {
    return Math.max(this.#cells.size, this.#rules.size)
  }

  /** Counts a call; returns false if memory is full, so that the call remains uncounted. */
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
    if (call.ruleId !== undefined) this.#countRule(call, call.ruleId, decided)
    if (call.trialRuleId !== undefined) this.#countRule(call, call.trialRuleId, wouldRefuse)
    return true
  }

  /**
   * Removes up to `limit` counts of calls and as many counts of rules, oldest first, and returns them as rows to add to
   * the tables.
   */
  take(limit: number): CountRows[] {
    const [minutes, quarters, days] = [new Rows(), new Rows(), new Rows()]
    // Nothing may be added to a cell that has been taken.
    this.#last = undefined
    this.#latestOfRule.clear()
    for (const cell of takeFirst(this.#cells, limit).values()) {
      const { organizationId: id, minute, keyId, targetId, stoppedAt } = cell
      minutes.add(`"${id}",${minute},"${targetId}","${stoppedAt}"`, minuteSums(cell))
      const quarter = minute - (minute % quarterHourMs)
      const day = minute - (minute % dayMs)
      const end = `"${stoppedAt}","${cell.refusal}",${cell.status}`
      // The empty subject stands for the whole organization. The id of an unknown target or of a key that is not
      // counted is empty too; the set removes such duplicates.
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
    // Most calls belong to the same cell as the previous call.
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
      const attributes = { organizationId, minute, keyId, targetId, stoppedAt, refusal, status }
      cell = { ...attributes, calls: 0, bytesIn: 0, bytesOut: 0, durationUs: 0, sums }
      this.#cells.set(name, cell)
    }
    this.#last = cell
    return cell
  }

  #countRule(call: CallRecord, ruleId: string, column: number): void {
    const day = call.at - (call.at % dayMs)
    let cell = this.#latestOfRule.get(ruleId)
    if (cell?.day !== day || cell.organizationId !== call.organizationId) {
      const { organizationId } = call
      const sums = this.#rules.sumsOf(`"${organizationId}","${ruleId}",${day}`, ruleColumns)
      cell = { organizationId, day, sums }
      this.#latestOfRule.set(ruleId, cell)
    }
    cell.sums[column] = (cell.sums[column] ?? 0) + 1
  }
}

/** Counts the given calls, and returns the rows to add to the tables. */
export function countsOf(calls: Iterable<CallRecord>): CountRows[] {
  const counts = new CallCounts()
  for (const call of calls) counts.add(call)
  return counts.take(Infinity)
}

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

/** Sums by row key. A key is JSON built without escaping: its values are ids, codes and numbers that we made. */
class Rows extends Map<string, Float64Array> {
  add(key: string, more: Sums): void {
    const sums = this.sumsOf(key, more.length)
    for (let at = 0; at < more.length; at++) sums[at] = (sums[at] ?? 0) + (more[at] ?? 0)
  }

  sumsOf(key: string, columns: number): Float64Array {
    const known = this.get(key)
    if (known !== undefined) return known
    const sums = new Float64Array(columns)
    this.set(key, sums)
    return sums
  }
}

function minuteSums({ calls, status, bytesIn, bytesOut, durationUs }: Cell): number[] {
  return [calls, status >= 500 ? calls : 0, bytesIn, bytesOut, durationUs]
}
