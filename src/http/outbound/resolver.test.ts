import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OutboundError } from './outbound-error.ts'
import { createResolver } from './resolver.ts'

const hourMs = 3_600_000

/** A resolver whose clock the test moves, and whose look-ups end when the test says so. */
function worldOfNames() {
  let now = 0
  const open = new Map<string, (found: readonly string[]) => void>()
  const asked: string[] = []
  const resolve = createResolver(
    async (host) => {
      asked.push(host)
      return await new Promise((found) => void open.set(host, found))
    },
    () => now,
  )
  return {
    asked,
    ask: (host: string): Promise<readonly string[]> => {
      const answer = resolve(host)
      answer.catch(() => undefined)
      return answer
    },
    async end(host: string, tookMs = 0): Promise<void> {
      await turns()
      now += tookMs
      open.get(host)?.(['192.0.2.1'])
      await turns()
    },
    pass: (ms: number): void => void (now += ms),
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('look-ups of names', () => {
  test('names whose servers never answer take one thread, and names that have resolved do not wait for them', async () => {
    const world = worldOfNames()
    const first = world.ask('good.example')
    await world.end('good.example')
    await first
    for (let number = 0; number < 50; number++) void world.ask(`hangs-${number}.example`)
    void world.ask('good.example')
    await turns()
    assert.deepEqual(world.asked, ['good.example', 'hangs-0.example', 'good.example'])
  })

  test('a name that took long is not trusted for an hour, although it answers at once in between', async () => {
    const world = worldOfNames()
    void world.ask('slow.example')
    await world.end('slow.example', 5000)
    void world.ask('slow.example')
    await world.end('slow.example')
    void world.ask('other.example')
    void world.ask('slow.example')
    await turns()
    assert.equal(world.asked.at(-1), 'other.example')
    await world.end('other.example')
    assert.equal(world.asked.at(-1), 'slow.example')
    await world.end('slow.example')
    world.pass(hourMs)
    void world.ask('third.example')
    void world.ask('slow.example')
    await turns()
    assert.deepEqual(world.asked.slice(-2), ['third.example', 'slow.example'])
  })

  test('of the names that wait, the one that was slow least often is next', async () => {
    const world = worldOfNames()
    void world.ask('slow.example')
    await world.end('slow.example', 5000)
    void world.ask('first.example')
    void world.ask('slow.example')
    void world.ask('new.example')
    await world.end('first.example')
    assert.equal(world.asked.at(-1), 'new.example')
    await world.end('new.example')
    assert.equal(world.asked.at(-1), 'slow.example')
  })

  test('a name that has waited longer than anybody waits for it is not looked up', async () => {
    const world = worldOfNames()
    void world.ask('hangs.example')
    const waiting = world.ask('waits.example')
    await world.end('hangs.example', 60_001)
    await assert.rejects(waiting, OutboundError)
    assert.deepEqual(world.asked, ['hangs.example'])
    void world.ask('next.example')
    await turns()
    assert.equal(world.asked.at(-1), 'next.example')
  })

  test('a name that fails frees the way for the next', async () => {
    const asked: string[] = []
    const resolve = createResolver(
      async (host) => {
        asked.push(host)
        throw new Error('no such name')
      },
      () => 0,
    )
    await Promise.allSettled(['a.example', 'b.example', 'c.example'].map(resolve))
    assert.deepEqual(asked, ['a.example', 'b.example', 'c.example'])
  })
})
