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
import { RecordSums, RecordTops } from './record-sums.ts'
import {
  callsIn,
  rollupOf,
  type Rollup,
  type RollupInput,
  type RollupParts,
  type SummedRow,
  type Times,
} from './rollup.ts'

const { quarterMs } = callCounts
const minuteMs = 60_000
const dayMs = 86_400_000
// Of so many calls each is looked at for percentiles; of more they are estimated.
const maxTimed = 10_000
const searchMs = 120

type TopRow = callCounts.TopRow

/** The keys and targets with the most calls, and the codes with the most refusals and failures. */
export interface TopOfCalls {
  readonly keys: readonly TopRow[]
  readonly targets: readonly TopRow[]
  readonly codes: readonly TopRow[]
  /** Only calls from this time on are told of: there were too many to look at all of them. */
  readonly searchedBackTo: number | undefined
}

/** Sums of calls over time: from counts where those know the answer, else from the records, as many as can be looked at. */
export class Rollups {
  readonly #at: Store['slowCallReads']
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  #since: number | undefined

  constructor(at: Store['slowCallReads'], clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#at = at
    this.#clock = clock
  }

  /** Steps over a day or more that are whole quarters of an hour begin at one, so that counts know them. */
  async rollup(organizationId: OrganizationId, asked: RollupInput): Promise<Rollup> {
    const input = mayBeWidened(asked) ? { ...asked, ...widened(asked) } : asked
    return rollupOf(input, await this.#partsOf(organizationId, input))
  }

  async top(
    organizationId: OrganizationId,
    filter: CallFilter,
    limit: number,
  ): Promise<TopOfCalls> {
    const { from = 0, to = this.#clock.now(), keyId, targetId } = filter
    const range = { from, to }
    const isOfAll = keyId === undefined && targetId === undefined
    const isCounted = isOfAll && (await this.#isCounted(filter, widened(range)))
    if (isCounted && (isLong(range) || this.#isOfQuarters(range))) {
      return await this.#topOfQuarters(organizationId, { ...filter, ...range }, limit)
    }
    // Before the records, so that calls in between do not seem to have left none.
    const counted = isCounted
      ? await this.#countMinutes(organizationId, { ...filter, ...range })
      : 0
    const tops = new RecordTops()
    const searchedBackTo = await this.#lookBack(organizationId, filter, (call) => tops.add(call))
    // Where not all records are kept, or there are too many to look at, a little more than was asked for tells more than
    // some of it.
    if (isCounted && (searchedBackTo !== undefined || tops.calls < counted)) {
      return await this.#topOfQuarters(organizationId, { ...filter, ...range }, limit)
    }
    const [keys, targets, codes] = (['key', 'target', 'code'] as const).map((by) =>
      tops.top(by, limit),
    ) as [TopRow[], TopRow[], TopRow[]]
    return { keys, targets, codes, searchedBackTo }
  }

  /** How many calls a filter finds in the whole minutes of a range; 0 if minutes do not know. */
  async #countMinutes(organizationId: OrganizationId, filter: CallFilter & Range): Promise<number> {
    const { from, to, stoppedAt, outcome } = filter
    if (!isKnownToMinutes(filter)) return 0
    const range = { from, to: to - (to % minuteMs), stepMs: dayMs, check: stoppedAt }
    const { rows } = await traffic.sum(this.#at, organizationId, range)
    return callsIn(rows, outcome)
  }

  async #topOfQuarters(
    organizationId: OrganizationId,
    filter: CallFilter & Range,
    limit: number,
  ): Promise<TopOfCalls> {
    const wish = { ...filter, ...widened(filter), limit }
    const of = async (by: 'key' | 'target' | 'code') =>
      await callCounts.top(this.#at, organizationId, { ...wish, by })
    const [keys, targets, codes] = [await of('key'), await of('target'), await of('code')]
    return { keys, targets, codes, searchedBackTo: undefined }
  }

  /** Since when counts per quarter are whole. */
  async since(): Promise<number> {
    this.#since ??= await callCounts.countedSince(this.#at)
    return this.#since
  }

  async #partsOf(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const isOfQuarters = input.stepMs % quarterMs === 0 && this.#isOfQuarters(input)
    if (isOfQuarters && (await this.#isCounted(input, input))) {
      return await this.#fromQuarters(organizationId, input)
    }
    if (isKnownToMinutes(input)) return await this.#fromMinutes(organizationId, input)
    return await this.#fromRecords(organizationId, input)
  }

  /** Whether it begins and ends with a quarter of an hour; no calls have come after now. */
  #isOfQuarters({ from, to }: Range): boolean {
    return from % quarterMs === 0 && (to % quarterMs === 0 || to >= this.#clock.now())
  }

  async #isCounted(filter: CallFilter, { from }: { readonly from: number }): Promise<boolean> {
    const { id, keyId, targetId, method, path, words, address } = filter
    const isFiner = [id, method, path, words, address].some((value) => value !== undefined)
    const isOfBoth = keyId !== undefined && targetId !== undefined
    return !isFiner && !isOfBoth && from >= (await this.since())
  }

  async #fromQuarters(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const subject = input.keyId ?? input.targetId ?? ''
    const rows = await callCounts.sumSteps(this.#at, organizationId, { ...input, subject })
    // Whether there are few enough to look at: all calls, unless there is an index of those that are wanted.
    const looked = { ...input, subject: input.keyId ?? '' }
    const isSmall =
      countOf(rows) <= maxTimed &&
      (await callCounts.countAll(this.#at, organizationId, looked)) <= maxTimed
    const times = await this.#timesOf(organizationId, input, { isSmall, isCounted: true })
    if (times.all.size > 0 && times.timed >= countOf(rows)) return { rows, ...times }
    // Records of which some were not kept, or that are too many, are told of by the counts.
    return { rows, ...times, all: timesOfCounts(rows), sampled: rows.length > 0 }
  }

  /** Counts per minute, target and check. */
  async #fromMinutes(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const { from, to, stepMs, targetId, stoppedAt } = input
    const range = { from, to, stepMs }
    const of = { ...range, targetId, check: stoppedAt }
    const { rows } = await traffic.sum(this.#at, organizationId, of)
    const all =
      targetId === undefined && stoppedAt === undefined
        ? rows
        : (await traffic.sum(this.#at, organizationId, range)).rows
    const isSmall = countOf(all) <= maxTimed
    // The last minute is counted whole.
    const timed = { ...input, to: Math.ceil(to / minuteMs) * minuteMs }
    const times = await this.#timesOf(organizationId, timed, { isSmall, isCounted: false })
    const isPart = times.timed < callsIn(rows, input.outcome)
    return { rows, ...times, sampled: times.sampled || isPart }
  }

  async #fromRecords(organizationId: OrganizationId, input: RollupInput): Promise<RollupParts> {
    const sums = new RecordSums(input)
    const { parts, stepMs: _, ...filter } = input
    const searchedBackTo = await this.#lookBack(organizationId, filter, (call) => sums.add(call))
    return {
      rows: sums.rows,
      all: sums.all.percentiles(),
      upstream: parts === true ? sums.upstream.percentiles() : none,
      own: parts === true ? sums.own.percentiles() : none,
      sampled: false,
      searchedBackTo,
    }
  }

  /** Percentiles of every call where there are few, else of a sample; those that counts know are left to them. */
  async #timesOf(
    organizationId: OrganizationId,
    input: RollupInput,
    { isSmall, isCounted }: { readonly isSmall: boolean; readonly isCounted: boolean },
  ): Promise<Omit<RollupParts, 'rows'> & { readonly timed: number }> {
    const read = isSmall ? callTimes.percentiles : callTimes.sampledPercentiles
    const parts: TimedPart[] = isSmall || !isCounted ? ['all'] : []
    if (input.parts === true) parts.push('upstream', 'own')
    if (parts.length === 0) return { all: none, upstream: none, own: none, sampled: true, timed: 0 }
    const found = await read(this.#at, organizationId, { ...input, parts })
    const of = (part: TimedPart): Times =>
      new Map(found.filter((row) => row.part === part).map((row) => [row.step, row]))
    const timed = found.find(({ part, step }) => part === 'all' && step === -1)?.calls ?? 0
    return { all: of('all'), upstream: of('upstream'), own: of('own'), sampled: !isSmall, timed }
  }

  /** Shows calls newest first, as many as there is time for; returns from when on, if those were not all. */
  async #lookBack(
    organizationId: OrganizationId,
    filter: CallFilter,
    see: (call: callSearch.CallGlance) => void,
  ): Promise<number | undefined> {
    const endsAt = this.#clock.monotonic() + searchMs
    const hasTime = (): boolean => this.#clock.monotonic() < endsAt
    const show = (calls: readonly callSearch.CallGlance[]): void => calls.forEach(see)
    const end = await callSearch.lookBack(this.#at, organizationId, { ...filter, hasTime, show })
    return end === undefined ? undefined : timeOfId(end)
  }
}

const none: Times = new Map()

/** Minutes know the target, and where a call stopped. */
function isKnownToMinutes({ id, keyId, statuses, method, path, words, address }: CallFilter) {
  const finer = [id, keyId, statuses, method, path, words, address]
  return finer.every((value) => value === undefined)
}

interface Range {
  readonly from: number
  readonly to: number
}

/** A range of which a quarter of an hour more at either end is a small part. */
function isLong({ from, to }: Range): boolean {
  return to - from >= dayMs
}

/**
 * Below a day, minutes tell of exactly what was asked; of what they do not know, several steps may begin a little
 * earlier, while a single one is a sum to be compared with others.
 */
function mayBeWidened(asked: RollupInput): boolean {
  if (asked.stepMs % quarterMs !== 0) return false
  const hasSteps = asked.to - asked.from > asked.stepMs
  return isLong(asked) || (hasSteps && !isKnownToMinutes(asked))
}

function widened({ from, to }: Range): Range {
  return {
    from: Math.floor(from / quarterMs) * quarterMs,
    to: Math.ceil(to / quarterMs) * quarterMs,
  }
}

function countOf(rows: readonly SummedRow[]): number {
  return rows.reduce((sum, { calls }) => sum + calls, 0)
}

/** Percentiles of each step and of all of them (-1), from counts of calls by how long they took. */
function timesOfCounts(rows: readonly callCounts.CountedStep[]): Times {
  const steps = new Map<number, number[]>()
  for (const { step, latency } of rows) {
    for (const where of [step, -1]) {
      const sums = steps.get(where) ?? latency.map(() => 0)
      for (const [bucket, calls] of latency.entries()) sums[bucket] = (sums[bucket] ?? 0) + calls
      steps.set(where, sums)
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
