import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeFeed } from './feed.ts'

const pollMs = 200
const minuteMs = 60_000

/** A feed over an empty database, with a clock that moves only in `pass`. */
async function pollingFeed() {
  let now = 0
  let polls = 0
  let poll: { at: number; call: () => void } | undefined
  const server = { identity: 'a', startedAt: '' }
  const feed = new ChangeFeed({
    clock: { now: () => now, monotonic: () => now },
    standing: { covers: () => true, renew: async () => undefined },
    timers: {
      after: (ms, call) => ((poll = { at: now + ms, call }), () => undefined),
      every: () => () => undefined,
      soon: (call) => call(),
    },
    source: {
      pace: { pollMs, idlePollMs: 600 },
      hasForeignCommit: async () => {
        polls += 1
        return false
      },
      read: async () => ({ server, changes: [] }),
      head: async () => ({ server, mark: { sequence: 0, token: '' } }),
      listen: () => undefined,
    },
  })
  await feed.start()
  return {
    feed,
    /** Lets time pass, calling `each` every 100 ms; returns how many polls asked for foreign commits. */
    async pass(ms: number, each: () => void = () => undefined): Promise<number> {
      const before = polls
      for (const end = now + ms; now < end;) {
        now += 100
        each()
        const due = poll
        if (due !== undefined && due.at <= now) due.call()
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
