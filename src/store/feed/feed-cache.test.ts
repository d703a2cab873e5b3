import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChangeKind, ChangeOf } from '../db/changes.ts'
import { FeedCache } from './feed-cache.ts'
import type { Feed } from './feed.ts'

interface Row {
  readonly key: string
  readonly session: string
  readonly user: string
  readonly isChanged?: boolean
}

class FakeFeed implements Feed {
  isTrusted = true
  readonly #listeners: [ChangeKind, (change: never) => void][] = []
  readonly #resets: (() => void | Promise<void>)[] = []

  on<Kind extends ChangeKind>(
    kind: Kind,
    heard: (change: ChangeOf<Kind>) => void,
    reset: () => void | Promise<void>,
  ): void {
    this.#listeners.push([kind, heard])
    this.#resets.push(reset)
  }

  onReset(reset: () => void | Promise<void>): void {
    this.#resets.push(reset)
  }

  isCurrent(): boolean {
    return this.isTrusted
  }

  async prove(): Promise<boolean> {
    return this.isTrusted
  }

  keepAwakeWhile(): void {}

  async read(): Promise<void> {}

  tell(kind: 'session' | 'user' | 'organization', subjectId: string): void {
    const change = { kind, subjectId, organizationId: 'org_1', sequence: 1, token: '' } as never
    for (const [of, heard] of this.#listeners) if (of === kind) heard(change)
  }

  reset(): void {
    for (const reset of this.#resets) void reset()
  }
}

function open(
  options: {
    capacity?: number
    overlap?: (feed: FakeFeed, reads: number) => void
    valueOf?: () => Partial<Row>
  } = {},
) {
  const feed = new FakeFeed()
  const reads: string[] = []
  const cache = new FeedCache<Row>({
    feed,
    capacity: options.capacity ?? 10,
    async read(key) {
      reads.push(key)
      await Promise.resolve()
      const read = options.valueOf?.()
      options.overlap?.(feed, reads.length)
      const [session = '', user = ''] = key.split('/')
      return key.startsWith('no') ? undefined : { key, session, user, ...read }
    },
    subjectsOf: ({ session, user }) => [session, user, 'org_1'],
    forgets: {
      session: ({ subjectId }) => subjectId,
      user: ({ subjectId }) => subjectId,
      organization: ({ subjectId }) => subjectId,
    },
    isKept: ({ user }) => user !== 'fleeting',
  })
  return { feed, reads, cache }
}

describe('a cache that follows the change feed', () => {
  test('reads once, and drops exactly what a change touches', async () => {
    const { feed, reads, cache } = open()
    for (const key of ['a/x', 'b/x', 'c/y', 'a/x']) await cache.find(key)
    assert.deepEqual(reads, ['a/x', 'b/x', 'c/y'])
    feed.tell('session', 'a')
    assert.deepEqual(
      ['a/x', 'b/x', 'c/y'].map((key) => cache.peek(key) !== undefined),
      [false, true, true],
    )
    feed.tell('user', 'x')
    assert.equal(cache.peek('b/x'), undefined)
    assert.equal(cache.peekOf('y'), cache.peek('c/y'))
    feed.tell('organization', 'org_1')
    assert.equal(cache.size, 0)
  })

  test('drops tens of thousands of values of one person at once, and only those', async () => {
    const many = 20_000
    const { feed, cache } = open({ capacity: many + 1 })
    // With a list of each person's keys instead of a set, dropping all of them would take time quadratic in the number
    // of keys: many seconds.
    for (let at = 0; at < many; at++) await cache.find(`${at}/x`)
    await cache.find('other/y')
    feed.tell('session', '7')
    assert.equal(cache.size, many)
    assert.equal(cache.peekOf('x'), cache.peek('0/x'))
    feed.tell('user', 'x')
    assert.equal(cache.size, 1)
    assert.equal(cache.peekOf('x'), undefined)
    assert.ok(cache.peekOf('y'))
  })

  test('changes of others during a read cost no other read, and the value is remembered', async () => {
    const { reads, cache } = open({ overlap: (feed) => feed.tell('session', 'other') })
    assert.equal((await cache.find('a/x'))?.session, 'a')
    assert.equal(reads.length, 1)
    assert.equal(cache.size, 1)
  })

  for (const [what, tell] of [
    ['its own change', (feed: FakeFeed) => feed.tell('user', 'x')],
    ['a change of everything', (feed: FakeFeed) => feed.tell('organization', 'org_1')],
    ['another history', (feed: FakeFeed) => feed.reset()],
  ] as const) {
    test(`no read that ${what} overlapped is believed, although others changed during each read before`, async () => {
      const { reads, cache } = open({
        overlap: (feed, read) => (read < 4 ? tell(feed) : feed.tell('session', 'other')),
      })
      assert.equal((await cache.find('a/x'))?.session, 'a')
      assert.equal(reads.length, 4)
      assert.equal(cache.size, 1)
    })
  }

  test('overlooks no change, however soon after the answer of the database it comes', async () => {
    for (let steps = 0; steps < 12; steps++) {
      let isChanged = false
      // Each step is one turn of the microtask queue, in which the read's promises resolve.
      const change = async (feed: FakeFeed): Promise<void> => {
        for (let step = 0; step < steps; step++) await Promise.resolve()
        isChanged = true
        feed.tell('session', 'a')
      }
      const { cache } = open({
        overlap(feed, reads) {
          if (reads > 1) return
          void change(feed)
        },
        valueOf: () => ({ isChanged }),
      })
      await cache.find('a/x')
      await new Promise((resolve) => setImmediate(resolve))
      assert.notEqual(cache.peek('a/x')?.isChanged, false, `${steps} steps`)
    }
  })

  test('remembers nothing that changed during each of ten reads', async () => {
    const { reads, cache } = open({ overlap: (feed) => feed.tell('session', 'a') })
    assert.equal((await cache.find('a/x'))?.session, 'a')
    assert.equal(reads.length, 10)
    assert.equal(cache.size, 0)
  })

  test('trusts nothing while the feed is not current, and drops everything with the history', async () => {
    const { feed, cache } = open()
    const heard: unknown[] = []
    cache.onChange((change) => heard.push(change?.kind))
    await cache.find('a/x')
    feed.isTrusted = false
    assert.equal(cache.peek('a/x'), undefined)
    assert.equal(cache.peekOf('a'), undefined)
    feed.isTrusted = true
    assert.notEqual(cache.peek('a/x'), undefined)
    feed.reset()
    assert.equal(cache.peek('a/x'), undefined)
    assert.deepEqual(heard, [undefined])
  })

  test('holds no more than its capacity: the longest remembered go first, with their subjects', async () => {
    const { cache } = open({ capacity: 2 })
    for (const key of ['a/x', 'b/x', 'c/x']) await cache.find(key)
    assert.equal(cache.size, 2)
    assert.equal(cache.peekOf('a'), undefined)
    assert.equal(cache.peekOf('x')?.key, 'b/x')
  })

  test('remembers neither what the database lacks nor what is not to be kept', async () => {
    const { cache, reads } = open()
    assert.equal(await cache.find('no/x'), undefined)
    await cache.find('a/fleeting')
    await cache.find('a/fleeting')
    assert.equal(cache.size, 0)
    assert.equal(reads.length, 3)
  })
})
