import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeFeed } from './feed.ts'

const pollMs = 200
const minuteMs = 60_000

/** A feed over an empty database, a clock that is set by hand, and the number of polls that reached the database. */
async function pollingFeed() {
  let now = 0
  let polls = 0
  let poll = (): void => undefined
  const server = { identity: 'a', startedAt: '' }
  const feed = new ChangeFeed({
    clock: { now: () => now, monotonic: () => now },
    standing: { covers: () => true, renew: async () => undefined },
    timers: { every: (_ms, call) => ((poll = call), () => undefined), soon: (call) => call() },
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
    /** Lets time pass; `each` is called before every poll. */
    async pass(ms: number, each: () => void = () => undefined): Promise<number> {
      const before = polls
      for (const end = now + ms; now < end;) {
        now += pollMs
        each()
        poll()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return polls - before
    },
  }
}

test('a feed that nobody relies on is polled a third as often, and may still be trusted by the next caller', async () => {
  const { feed, pass } = await pollingFeed()
  const use = (): void => void feed.isCurrent()
  // The first read settles which history the feed has.
  await pass(pollMs, use)
  const whileUsed = await pass(minuteMs, use)
  assert.equal(whileUsed, minuteMs / pollMs)
  await pass(10_000)
  assert.equal(await pass(minuteMs), minuteMs / 600)
  for (let at = 0; at < 10; at++) {
    await pass(5200 + at * pollMs)
    assert.ok(feed.isCurrent())
  }
  assert.equal(await pass(2000, use), 2000 / pollMs)
})
