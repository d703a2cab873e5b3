import type { Clock } from '../clock.ts'
import { timeOfId, type OrganizationId } from '../ids.ts'
import {
  callCounts,
  callSearch,
  callTimes,
  percentileOf,
  traffic,
  type CallFilter,
  type Store,
  type TimedPart,
} from '../store/index.ts'
import { dayMs, minuteMs, quarterHourMs } from '../units.ts'
import { RecordSums, RecordTops } from './record-sums.ts'
import {
  countOutcome,
  rollupOf,
  type Rollup,
  type RollupInput,
  type RollupParts,
  type SummedRow,
  type Times,
} from './rollup.ts'

// If sums come from counts, percentiles of up to this many calls are read from records. Percentiles of more calls are
// estimated, to bound the time of a read.
const maxExact = 10_000
const searchMs = 120

type TopRow = callCounts.TopRow

/** The keys and targets with the most calls, and the codes with the most refusals and failures. */
export interface TopOfCalls {
  readonly keys: readonly TopRow[]
  readonly targets: readonly TopRow[]
  readonly codes: readonly TopRow[]
  /** Calls before this time were left out, because there were too many to read; undefined if none were left out. */
  readonly searchedBackTo: number | undefined
}

/** Sums calls over time: from counts if these can answer, otherwise from as many records as time allows. */
export class Rollups {
  readonly #db: Store['slowCallReads']
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  #countedSince: number | undefined

  constructor(db: Store['slowCallReads'], clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#db = db
    this.#clock = clock
  }

  /** Sums calls in steps. May widen the range to whole quarters of an hour, so that quarter-hour counts can answer. */
  async rollup(organizationId: OrganizationId, input: RollupInput): Promise<Rollup> {
    const answered = mayWiden(input) ? { ...input, ...widened(input) } : input
    return rollupOf(answered, await this.#partsOf(organizationId, answered))
  }

  async top(
    organizationId: OrganizationId,
    filter: CallFilter,
    limit: number,
  ): Promise<TopOfCalls> {
    const { from = 0, to = this.#clock.now(), keyId, targetId } = filter
    const range = { from, to }
    const isWhole = keyId === undefined && targetId === undefined
    const isCounted = isWhole && (await this.#isCounted(filter, widened(range)))
    if (isCounted && (isLong(range) || this.#isAligned(range))) {
      return await this.#topOfQuarters(organizationId, { ...filter, ...range }, limit)
    }
    // Counted before records are read: a call that ends in between must not look like one without a record.
    const counted = isCounted
      ? await this.#countMinutes(organizationId, { ...filter, ...range })
      : 0
    const tops = new RecordTops()
    const searchedBackTo = await this.#readRecords(organizationId, filter, (call) => tops.add(call))
    // If records are incomplete, counts of a slightly wider range are a better answer.
    if (isCounted && (searchedBackTo !== undefined || tops.calls < counted)) {
      return await this.#topOfQuarters(organizationId, { ...filter, ...range }, limit)
    }
    const [keys, targets, codes] = (['key', 'target', 'code'] as const).map((by) =>
      tops.top(by, limit),
    ) as [TopRow[], TopRow[], TopRow[]]
    return { keys, targets, codes, searchedBackTo }
  }

  /** Counts the calls that match a filter in the whole minutes of a range; 0 if counts per minute can't answer. */
  async #countMinutes(organizationId: OrganizationId, filter: CallFilter & Range): Promise<number> {
    const { from, to, stoppedAt, outcome } = filter
    if (!isCountedByMinute(filter)) return 0
    const range = { from, to: to - (to % minuteMs), stepMs: dayMs, check: stoppedAt }
    const { rows } = await traffic.sum(this.#db, organizationId, range)
    return countOutcome(rows, outcome)
  }

  async #topOfQuarters(
    organizationId: OrganizationId,
    filter: CallFilter & Range,
    limit: number,
  ): Promise<TopOfCalls> {
    const query = { ...filter, ...widened(filter), limit }
    const topBy = async (by: 'key' | 'target' | 'code') =>
      await callCounts.top(this.#db, organizationId, { ...query, by })
    const [keys, targets, codes] = [await topBy('key'), await topBy('target'), await topBy('code')]
    return { keys, targets, codes, searchedBackTo: undefined }
  }

  /** Returns the time since which quarter-hour counts include every call. */
  async countedSince(): Promise<number> {
    this.#countedSince ??= await callCounts.countedSince(this.#db)
    return this.#countedSince
  }

  async #partsOf(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const isAligned = input.stepMs % quarterHourMs === 0 && this.#isAligned(input)
    if (isAligned && (await this.#isCounted(input, input))) {
      return await this.#fromQuarters(organizationId, input)
    }
    if (isCountedByMinute(input)) return await this.#fromMinutes(organizationId, input)
    return await this.#fromRecords(organizationId, input)
  }

  /** Whether a range consists of whole quarters of an hour; its end may also be now or later, since no calls follow. */
  #isAligned({ from, to }: Range): boolean {
    return from % quarterHourMs === 0 && (to % quarterHourMs === 0 || to >= this.#clock.now())
  }

  /** Whether quarter-hour counts can answer for every call that matches the filter since `from`. */
  async #isCounted(filter: CallFilter, { from }: { readonly from: number }): Promise<boolean> {
    const { id, keyId, targetId, method, path, words, address } = filter
    const needsRecords = [id, method, path, words, address].some((value) => value !== undefined)
    const needsBoth = keyId !== undefined && targetId !== undefined
    return !needsRecords && !needsBoth && from >= (await this.countedSince())
  }

  async #fromQuarters(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const subject = input.keyId ?? input.targetId ?? ''
    const rows = await callCounts.sumSteps(this.#db, organizationId, { ...input, subject })
    // Calls of one key have an index; for any other filter the database has to read all calls of the range.
    const scanned = { ...input, subject: input.keyId ?? '' }
    const isSmall =
      countOf(rows) <= maxExact &&
      (await callCounts.countAll(this.#db, organizationId, scanned)) <= maxExact
    const times = await this.#timesOf(organizationId, input, { isSmall, isCounted: true })
    if (times.all.size > 0 && times.timed >= countOf(rows)) return { rows, ...times }
    // Some records are missing or there are too many to read: estimate percentiles from the counts.
    return { rows, ...times, all: timesOfCounts(rows), sampled: rows.length > 0 }
  }

  async #fromMinutes(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const { from, to, stepMs, targetId, stoppedAt } = input
    const range = { from, to, stepMs }
    const wanted = { ...range, targetId, check: stoppedAt }
    const { rows } = await traffic.sum(this.#db, organizationId, wanted)
    const all =
      targetId === undefined && stoppedAt === undefined
        ? rows
        : (await traffic.sum(this.#db, organizationId, range)).rows
    const isSmall = countOf(all) <= maxExact
    // The counts include the whole last minute, so the records that are timed must too.
    const timed = { ...input, to: Math.ceil(to / minuteMs) * minuteMs }
    const times = await this.#timesOf(organizationId, timed, { isSmall, isCounted: false })
    const isIncomplete = times.timed < countOutcome(rows, input.outcome)
    return { rows, ...times, sampled: times.sampled || isIncomplete }
  }

  async #fromRecords(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const sums = new RecordSums(input)
    const { parts, stepMs: _, ...filter } = input
    const searchedBackTo = await this.#readRecords(organizationId, filter, (call) => sums.add(call))
    return {
      rows: sums.rows,
      all: sums.all.percentiles(),
      upstream: parts === true ? sums.upstream.percentiles() : none,
      own: parts === true ? sums.own.percentiles() : none,
      sampled: false,
      searchedBackTo,
    }
  }

  /**
   * Reads percentiles from records: of all calls if they are few, otherwise of a sample. If the calls are many and
   * counted, the percentiles of the whole duration are left out: `#fromQuarters` estimates them from the counts.
   */
  async #timesOf(
    organizationId: OrganizationId,
    input: RollupInput,
    { isSmall, isCounted }: { readonly isSmall: boolean; readonly isCounted: boolean },
  ): Promise<Omit<RollupParts, 'rows'> & { readonly timed: number }> {
    const read = isSmall ? callTimes.percentiles : callTimes.sampledPercentiles
    const parts: TimedPart[] = isSmall || !isCounted ? ['all'] : []
    if (input.parts === true) parts.push('upstream', 'own')
    if (parts.length === 0) return { all: none, upstream: none, own: none, sampled: true, timed: 0 }
    const found = await read(this.#db, organizationId, { ...input, parts })
    const timesOf = (part: TimedPart): Times =>
      new Map(found.filter((row) => row.part === part).map((row) => [row.step, row]))
    const timed = found.find(({ part, step }) => part === 'all' && step === -1)?.calls ?? 0
    return {
      all: timesOf('all'),
      upstream: timesOf('upstream'),
      own: timesOf('own'),
      sampled: !isSmall,
      timed,
    }
  }

  /**
   * Reads matching calls, newest first, until `searchMs` have passed or enough records have been read. Returns the time
   * back to which calls were read; undefined if all of them were.
   */
  async #readRecords(
    organizationId: OrganizationId,
    filter: CallFilter,
    onCall: (call: callSearch.SummedCall) => void,
  ): Promise<number | undefined> {
    const endsAt = this.#clock.monotonic() + searchMs
    const hasTime = (): boolean => this.#clock.monotonic() < endsAt
    const onCalls = (calls: readonly callSearch.SummedCall[]): void => calls.forEach(onCall)
    const end = await callSearch.readBack(this.#db, organizationId, { ...filter, hasTime, onCalls })
    return end === undefined ? undefined : timeOfId(end)
  }
}

const none: Times = new Map()

/** Counts per minute distinguish calls by target, check and outcome only. */
function isCountedByMinute({ id, keyId, statuses, method, path, words, address }: CallFilter) {
  const others = [id, keyId, statuses, method, path, words, address]
  return others.every((value) => value === undefined)
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Whether a range is so long that a quarter of an hour more at either end hardly changes its sums. */
function isLong({ from, to }: Range): boolean {
  return to - from >= dayMs
}

/**
 * Whether a range may be extended to whole quarters of an hour. A short range with a single step stays exact, because
 * its sum is compared with others.
 */
function mayWiden(input: RollupInput): boolean {
  if (input.stepMs % quarterHourMs !== 0) return false
  const hasSteps = input.to - input.from > input.stepMs
  return isLong(input) || (hasSteps && !isCountedByMinute(input))
}

function widened({ from, to }: Range): Range {
  return {
    from: Math.floor(from / quarterHourMs) * quarterHourMs,
    to: Math.ceil(to / quarterHourMs) * quarterHourMs,
  }
}

function countOf(rows: readonly SummedRow[]): number {
  return rows.reduce((sum, { calls }) => sum + calls, 0)
}

/** Estimates the percentiles of each step, and of all steps (-1), from the counts per latency bucket. */
function timesOfCounts(rows: readonly callCounts.CountedStep[]): Times {
  const steps = new Map<number, number[]>()
  for (const { step, latency } of rows) {
    for (const name of [step, -1]) {
      const sums = steps.get(name) ?? latency.map(() => 0)
      for (const [bucket, calls] of latency.entries()) sums[bucket] = (sums[bucket] ?? 0) + calls
      steps.set(name, sums)
    }
  }
  const at = (counts: readonly number[], share: number) => percentileOf(counts, share) ?? 0
  return new Map(
    [...steps].map(([step, counts]) => [
      step,
      { p50: at(counts, 50), p95: at(counts, 95), p99: at(counts, 99) },
    ]),
  )
}
