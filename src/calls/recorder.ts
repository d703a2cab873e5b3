import type { Clock } from '../clock.ts'
import { createId } from '../ids.ts'
import type { RecordChoice } from '../record-choice.ts'
import { createRecordChoice } from './record-choice.ts'
import type { Metrics } from '../telemetry/index.ts'
import {
  callPartitions,
  calls,
  CallRowsBuffer,
  keyCallers,
  keySecrets,
  traffic,
  type CallRecord,
  type CallRows,
  type KeyUse,
  type Store,
} from '../store/index.ts'
import { createOldSecretCallers } from './old-secret-callers.ts'

/** The secret that a call was made with. */
export interface UsedSecret {
  readonly digest: string
  /** Replaced by a rotation, still valid for a while. */
  readonly isOldSecret: boolean
}

/** Keeps what passed: call records, counts per minute, rules' counts, last uses; written in batches. */
export interface Recorder {
  /** Takes note of a finished call; never waits. Counts are exact whatever is chosen to be kept. */
  record(entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void
  /** Deletes records and counts older than this; in small commits. */
  forget(olderThanMs: number): Promise<void>
  /** Writes what is waiting. */
  flush(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Minute = Mutable<traffic.MinuteCounts>
type RuleDay = Mutable<traffic.RuleCounts>

const maxWaiting = 100_000
const rowsInCommit = 512
const flushMs = 250
/** A node that nobody has called for five minutes is not woken any more. */
const maxQuietTurns = 1200
const usesEveryMs = 2000
const minuteMs = 60_000
const partitionsEveryMs = 3_600_000
const dayMs = 86_400_000

/** Opens the recorder; `also` is done with each flush. */
export function createRecorder(deps: {
  store: Store
  clock: Clock
  metrics: Metrics
  log: { error(fields: object, text: string): void }
  also: () => Promise<void>
}): Recorder {
  const { store, clock, metrics, log } = deps
  const choose = createRecordChoice()
  const dropped = metrics.counter(
    'intercept_calls_dropped_total',
    'Call records lost to a full buffer.',
  )
  const rows = new CallRowsBuffer()
  // Batches that are not written yet, oldest first.
  const batches: CallRows[] = []
  let waiting = 0
  let minutes = new Map<string, Minute>()
  let last: Minute | undefined
  let ruleDays = new Map<string, RuleDay>()
  let uses = new Map<string, CallRecord>()
  const stragglers = createOldSecretCallers()
  let usesDueAt = 0
  let partitionsDueAt = 0
  let flushing: Promise<void> | undefined
  let failing = false
  metrics.measured('intercept_calls_waiting', 'Call records not yet written.', () => waiting)

  let timer: NodeJS.Timeout | undefined
  let quietTurns = 0

  function turn(): void {
    if (++quietTurns > maxQuietTurns) {
      clearInterval(timer)
      timer = undefined
    } else {
      void flush().catch(report)
    }
  }

  function report(err: unknown): void {
    log.error({ err }, 'call records could not be written')
  }

  function record(entry: CallRecord, secret: UsedSecret, choice: RecordChoice): void {
    quietTurns = 0
    timer ??= setInterval(turn, flushMs).unref()
    if (choose(entry, choice)) {
      if (waiting >= maxWaiting) dropped.add()
      else {
        rows.add(entry)
        waiting++
      }
    }
    if (rows.count >= rowsInCommit && !failing && flushing === undefined) {
      void once(writeCalls).catch(report)
    }
    countMinute(entry)
    if (entry.ruleId !== undefined) countRule(entry, entry.ruleId, false)
    if (entry.trialRuleId !== undefined) countRule(entry, entry.trialRuleId, true)
    uses.set(secret.digest, entry)
    if (secret.isOldSecret) stragglers.note(secret.digest, entry)
  }

  function countMinute(entry: CallRecord): void {
    const minute = entry.at - (entry.at % minuteMs)
    const targetId = entry.targetId ?? ''
    const stoppedAt = entry.stoppedAt ?? ''
    // Most calls are counted where the one before was.
    if (
      last?.minute === minute &&
      last.targetId === targetId &&
      last.stoppedAt === stoppedAt &&
      last.organizationId === entry.organizationId
    ) {
      addTo(last, entry)
      return
    }
    const name = `${entry.organizationId}${minute}${targetId}${stoppedAt}`
    let counts = minutes.get(name)
    if (counts === undefined) {
      const { organizationId } = entry
      counts = { organizationId, minute, targetId, stoppedAt, ...noCounts }
      minutes.set(name, counts)
    }
    last = counts
    addTo(counts, entry)
  }

  function countRule(entry: CallRecord, ruleId: string, onTrial: boolean): void {
    const dayAt = entry.at - (entry.at % dayMs)
    const name = `${ruleId}${dayAt}`
    let counts = ruleDays.get(name)
    if (counts === undefined) {
      const { organizationId } = entry
      counts = { organizationId, ruleId, dayAt, decided: 0, wouldRefuse: 0 }
      ruleDays.set(name, counts)
    }
    if (onTrial) counts.wouldRefuse++
    else counts.decided++
  }

  async function flush(): Promise<void> {
    await once(writeAll)
  }

  /** One piece of work at a time; whoever comes in between waits for the one under way. */
  async function once(work: () => Promise<void>): Promise<void> {
    flushing ??= work().finally(() => {
      flushing = undefined
    })
    await flushing
  }

  async function writeAll(): Promise<void> {
    await writeCounts()
    await writeCalls()
    await writeUses(false)
    await deps.also()
  }

  /** Made ahead by whoever writes, so that they are there whichever nodes run; a day without one has a place too. */
  async function makePartitions(): Promise<void> {
    const monotonic = clock.monotonic()
    if (store.engine === 'sqlite' || monotonic < partitionsDueAt) return
    partitionsDueAt = monotonic + partitionsEveryMs
    try {
      await store.transactionOnCalls(async (tx) => await callPartitions.makePartitions(tx))
    } catch (error) {
      report(error)
    }
  }

  async function writeCalls(): Promise<void> {
    batches.push(...rows.take())
    if (batches.length > 0) await makePartitions()
    for (let batch = batches[0]; batch !== undefined; batch = batches[0]) {
      failing = true
      await store.insertCalls(batch)
      failing = false
      // Only now: what could not be written is tried again, at the next turn of the timer.
      batches.shift()
      waiting -= batch.count
    }
  }

  async function writeCounts(): Promise<void> {
    if (minutes.size === 0 && ruleDays.size === 0) return
    const [minuteBatch, ruleBatch] = [minutes, ruleDays]
    minutes = new Map()
    ruleDays = new Map()
    last = undefined
    try {
      await store.transactionOnCalls(async (tx) => {
        await traffic.addMinutes(tx, [...minuteBatch.values()])
        await traffic.addRuleDays(tx, [...ruleBatch.values()])
      })
    } catch (error) {
      for (const [name, counts] of minuteBatch) minutes.set(name, addUp(counts, minutes.get(name)))
      for (const [name, counts] of ruleBatch) ruleDays.set(name, addUp(counts, ruleDays.get(name)))
      throw error
    }
  }

  async function writeUses(now: boolean): Promise<void> {
    const nowMs = Date.now()
    if (uses.size === 0 || (!now && nowMs < usesDueAt)) return
    usesDueAt = nowMs + usesEveryMs
    // In one order on every node, so that no two of them wait for each other's rows.
    const batch = [...uses]
      .map(([digest, entry]) => useOf(digest, entry))
      .toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
    uses = new Map()
    for (let at = 0; at < batch.length; at += rowsInCommit) {
      const part = batch.slice(at, at + rowsInCommit)
      await store.transaction(async (tx) => await keySecrets.noteUses(tx, part))
    }
    await stragglers.write(store)
  }

  async function forget(olderThanMs: number): Promise<void> {
    // Ids begin with their time, so that an id of the moment parts the old from the young.
    const before = createId('req', olderThanMs)
    await store.transactionOnCalls(async (tx) => await traffic.forgetMinutes(tx, olderThanMs))
    await store.transaction(async (tx) => await keyCallers.forgetOldSecretCallers(tx, olderThanMs))
    let isDropped = true
    while (isDropped) {
      isDropped = await store.transactionOnCalls(
        async (tx) => await callPartitions.dropPartition(tx, olderThanMs),
      )
    }
    let id = await calls.nextOrganization(store.calls, '')
    while (id !== undefined) {
      const organizationId = id
      let gone = rowsInCommit
      while (gone === rowsInCommit) {
        gone = await store.transactionOnCalls(
          async (tx) =>
            await calls.forget(tx, { organizationId, beforeId: before, limit: rowsInCommit }),
        )
      }
      id = await calls.nextOrganization(store.calls, organizationId)
    }
  }

  return {
    record,
    forget,
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      try {
        await flush()
        await flush()
        await writeUses(true)
      } catch (error) {
        report(error)
      }
    },
  }
}

function addTo(counts: Minute, entry: CallRecord): void {
  counts.calls++
  if (entry.status >= 500) counts.errors++
  counts.bytesIn += entry.bytesIn
  counts.bytesOut += entry.bytesOut
  counts.durationUs += entry.durationUs
}

const noCounts = { calls: 0, errors: 0, bytesIn: 0, bytesOut: 0, durationUs: 0 }

/** Two counts of the same thing as one; everything that is a sum is a number and grows. */
function addUp<T extends Minute | RuleDay>(earlier: T, later: T | undefined): T {
  if (later === undefined) return earlier
  const sum = { ...later }
  for (const name of sums) {
    if (name in sum) Object.assign(sum, { [name]: countOf(earlier, name) + countOf(later, name) })
  }
  return sum
}

const sums = [...Object.keys(noCounts), 'decided', 'wouldRefuse']

function countOf(counts: object, name: string): number {
  return Number((counts as Record<string, unknown>)[name] ?? 0)
}

function useOf(digest: string, entry: CallRecord): KeyUse {
  return {
    organizationId: entry.organizationId,
    keyId: entry.keyId,
    digest,
    at: entry.at,
    address: entry.address,
    agent: entry.agent,
    targetId: entry.targetId,
  }
}
