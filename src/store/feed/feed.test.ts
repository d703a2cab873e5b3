import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../db/changes.ts'
import { ChangeFeed } from './feed.ts'

const pollMs = 200
const minuteMs = 60_000

/** A feed with a clock that moves only in `pass`; `restPollMs` is that of its source. */
async function pollingFeed(restPollMs?: number) {
  let now = 0
  let polls = 0
  const betweenTurns: (() => void)[] = []
  const timers = new Set<{ at: number; call: () => void }>()
  const server = { identity: 'a', startedAt: '' }
  const database = { isAway: false, hangs: false, restPollMs }
  const changes: Change[] = []
  const feed = new ChangeFeed({
    clock: { now: () => now, monotonic: () => now },
    standing: { covers: () => true, renew: async () => undefined },
    timers: {
      after: (ms, call) => {
        const added = { at: now + ms, call }
        timers.add(added)
        return () => void timers.delete(added)
      },
      every: () => () => undefined,
      soon: (call) => {
        for (const look of betweenTurns) look()
        call()
      },
    },
    source: {
      get pace() {
        return { pollMs, idlePollMs: 600, restPollMs: database.restPollMs }
      },
      hasForeignCommit: async () => {
        polls += 1
        if (database.hangs) await new Promise(() => undefined)
        if (database.isAway) throw new Error('the database is away')
        return changes.length > 0
      },
      read: async ({ sequence }, limit) => {
        const from = Math.max(0, sequence - (changes[0]?.sequence ?? 0))
        return { server, changes: changes.slice(from, from + limit) }
      },
      head: async () => ({ server, mark: { sequence: 0, token: '' } }),
      listen: () => undefined,
    },
  })
  await feed.start()
  return {
    feed,
    database,
    changes,
    polls: () => polls,
    betweenTurns,
    /** Lets time pass, calling `each` every 100 ms; returns how many polls asked for foreign commits. */
    async pass(ms: number, each: () => void = () => undefined): Promise<number> {
      const before = polls
      for (const end = now + ms; now < end;) {
        now += 100
        each()
        for (const due of timers) if (due.at <= now && timers.delete(due)) due.call()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return polls - before
    },
  }
}

test('a feed that nobody relies on is polled a third as often, and may still be trusted by the next caller', async () => {
  const { feed, pass } = await pollingFeed()
  const use = (): void => void feed.isCurrent()
  // Nobody uses the feed when it starts, so its first poll comes only after 600 ms. Counting begins after that poll,
  // which reads the changes without asking for foreign commits.
  await pass(600, use)
  const whileUsed = await pass(minuteMs, use)
  assert.equal(whileUsed, minuteMs / pollMs)
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 600)
  for (let at = 0; at < 10; at++) {
    await pass(5200 + at * 100)
    assert.ok(feed.isCurrent())
  }
  await pass(600, use)
  assert.equal(await pass(2000, use), 2000 / pollMs)
})

test('a feed that nobody needs rests, and the first caller after that hears what changed before trusting anything', async () => {
  const { feed, pass, changes, database } = await pollingFeed(2000)
  const heard: string[] = []
  feed.on(
    'key',
    ({ subjectId }) => heard.push(subjectId),
    () => undefined,
  )
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 2000)
  await pass(1500)
  assert.equal(await feed.prove(), true)
  // The notification of this change got lost.
  await pass(1500)
  const revoked = { sequence: 1, token: 't', kind: 'key', organizationId: 'org_1' } as const
  changes.push({ ...revoked, subjectId: 'key_1' })
  assert.equal(feed.isCurrent(), false)
  assert.equal(await feed.prove(), true)
  assert.deepEqual(heard, ['key_1'])
  changes.length = 0
  assert.equal(await pass(5000, () => void feed.isCurrent()), 5000 / pollMs)
  database.restPollMs = undefined
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 600, 'it must not rest without notifications')
})

function keyChange(sequence: number): Change {
  const mark = { sequence, token: `t${sequence}` }
  return { ...mark, kind: 'key', organizationId: 'org_1', subjectId: `key_${sequence}` }
}

/** A feed of 2,500 changes, with what was heard before each turn of the calls and altogether. */
async function longFeed() {
  const polling = await pollingFeed()
  const { feed, changes, betweenTurns } = polling
  const heard: number[] = []
  const heardByTurn: number[] = []
  betweenTurns.push(() => heardByTurn.push(heard.length))
  feed.on(
    'key',
    ({ sequence }) => heard.push(sequence),
    () => undefined,
  )
  for (let sequence = 1; sequence <= 2500; sequence++) changes.push(keyChange(sequence))
  return { ...polling, heard, heardByTurn }
}

const everySequence = Array.from({ length: 2500 }, (_, at) => at + 1)

test('many changes are heard in turns, so that no call waits for all of them', async () => {
  const { feed, heard, heardByTurn } = await longFeed()
  await feed.read()
  assert.deepEqual(heard, everySequence)
  assert.deepEqual(
    heardByTurn,
    Array.from({ length: 9 }, (_, at) => (at + 1) * 250),
  )
})

test('own changes that are committed between two turns are heard once, whether the feed is already past them or not', async () => {
  const { feed, heard, betweenTurns } = await longFeed()
  let turns = 0
  betweenTurns.push(() => {
    turns += 1
    if (turns === 2) feed.heardOwn([keyChange(400), keyChange(600), keyChange(2100)])
  })
  await feed.read()
  assert.deepEqual(
    heard.toSorted((a, b) => a - b),
    everySequence,
  )
  assert.ok(feed.isCurrent())
})

test('a feed that is doubted between two turns is not trusted before everything was dropped', async () => {
  const { feed, betweenTurns } = await longFeed()
  let resets = 0
  const trusted: boolean[] = []
  feed.onReset(() => {
    trusted.push(feed.isCurrent())
    resets += 1
  })
  let turns = 0
  betweenTurns.push(() => {
    turns += 1
    if (turns > 2) trusted.push(feed.isCurrent())
    if (turns === 2) feed.doubt()
  })
  await feed.read()
  assert.equal(resets, 1)
  assert.ok(trusted.length > 5)
  assert.ok(!trusted.includes(true))
})

test('proving a feed is no reason to poll it more often, and needs no read while the feed is current', async () => {
  const { feed, pass, polls } = await pollingFeed(2000)
  await pass(10_000)
  await pass(1500)
  const before = polls()
  assert.deepEqual(await Promise.all([feed.prove(), feed.prove()]), [true, true])
  assert.equal(await feed.prove(), true)
  assert.equal(polls() - before, 1)
  assert.equal(await pass(minuteMs), minuteMs / 2000)
})

test('a feed does not rest while somebody must hear changes within a second', async () => {
  const { feed, pass } = await pollingFeed(2000)
  let isOpen = true
  feed.keepAwakeWhile(() => isOpen)
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 600)
  isOpen = false
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 2000)
})

test('a resting feed whose database has gone away is polled often at once, and cannot be proved', async () => {
  const { feed, pass, database } = await pollingFeed(2000)
  await pass(10_000)
  database.isAway = true
  await pass(2000)
  assert.equal(await feed.prove(), false)
  assert.equal(await pass(2000), 2000 / pollMs)
  database.isAway = false
  await pass(400)
  assert.equal(await feed.prove(), true)
})

test('a caller waits 200 ms for a database that hangs, and those after it wait no longer', async () => {
  const { feed, pass, database } = await pollingFeed(2000)
  await pass(10_000)
  await pass(1500)
  database.hangs = true
  const first = feed.prove()
  await pass(200)
  assert.equal(await first, false)
  assert.equal(await feed.prove(), false)
})

test('a moment is judged by both clocks, so that nothing is trusted after the machine was suspended', async () => {
  const { feed, pass } = await pollingFeed()
  await pass(10_000, () => void feed.isCurrent())
  const awake = { nowMs: 10_000, machineMs: 10_000, monotonicMs: 10_000 }
  assert.equal(feed.isCurrent(awake), true)
  // The monotonic clock stands still meanwhile, the wall clock does not.
  assert.equal(feed.isCurrent({ ...awake, nowMs: minuteMs, machineMs: minuteMs }), false)
  assert.equal(feed.isCurrent({ ...awake, monotonicMs: minuteMs }), false)
  // The database's clock may differ by more than that.
  assert.equal(feed.isCurrent({ ...awake, nowMs: 60 * minuteMs }), true)
})
