import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomFrom } from '../../../test/harness/random.ts'
import { KeyRecords, type RecordContent } from './key-records.ts'

/** First words of digests at the ends of the order, and on both sides of where signed and unsigned numbers differ. */
const hashesAtEdges = [0, 1, 2, -1, -2, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0x8000_0002]

describe('the records of keys', () => {
  test('are those of a plain map after any additions and removals, wherever their hashes are', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const world = new World(seed)
      for (let step = 0; step < 200; step++) world.step()
      world.checkAll()
    }
  })

  test('are refused once their segment is full, and those already there are still found', () => {
    const records = new KeyRecords()
    const contents: RecordContent[] = []
    const random = randomFrom(5)
    for (;;) {
      const content = contentOf([random() * 2 ** 32, contents.length, 0, 0], contents.length)
      if (records.add(content) < 0) break
      contents.push(content)
    }
    assert.ok(contents.length > 240_000, `${contents.length} records`)
    assert.equal(records.count, contents.length)
    checkAll(records, contents)
    const removed = contents.filter((_, at) => at % 10 !== 0)
    for (const { digest } of removed) records.remove(records.find(digest))
    for (const { digest } of removed) assert.equal(records.find(digest), -1)
    const left = contents.filter((_, at) => at % 10 === 0)
    assert.equal(records.count, left.length)
    checkAll(records, left)
    const elsewhere = contentOf([1, 2, 3, 2 ** 31], 1)
    assert.ok(records.add(elsewhere) >= 0)
  })

  test('may all have the greatest hash, whose home is the last', () => {
    const records = new KeyRecords()
    const contents = Array.from({ length: 3000 }, (_, at) => contentOf([0, at, 0, 0], at))
    for (const content of contents) assert.ok(records.add(content) >= 0)
    for (const { digest } of contents.slice(0, 1500)) records.remove(records.find(digest))
    checkAll(records, contents.slice(1500))
  })
})

/** Checks that each record is found by its digest and by its id, also where a region has empty places. */
function checkAll(records: KeyRecords, contents: readonly RecordContent[]): void {
  for (const { digest, id, shape, expiresAt } of contents) {
    const record = records.find(digest)
    assert.ok(record >= 0)
    assert.equal(records.findById(records.regionOf(record), id), record)
    assert.equal(records.shapeOf(record), shape)
    assert.equal(records.expiryOf(record), expiresAt)
  }
}

/** Records and a plain list of what should be in them: every operation is applied to both. */
class World {
  readonly #random: () => number
  readonly #records = new KeyRecords()
  readonly #contents: RecordContent[] = []
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
    this.#random = randomFrom(seed)
  }

  step(): void {
    if (this.#random() < 0.6) this.#add()
    else this.#remove()
    this.#check(contentOf(this.#digest(), 0).digest)
  }

  checkAll(): void {
    assert.equal(this.#records.count, this.#contents.length)
    for (const { digest } of this.#contents) this.#check(digest)
  }

  #add(): void {
    const content = contentOf(this.#digest(), this.#below(5))
    if (this.#contents.some(({ digest }) => isSame(digest, content.digest))) return
    assert.ok(this.#records.add(content) >= 0)
    this.#contents.push(content)
  }

  #remove(): void {
    const [content] = this.#contents.splice(this.#below(this.#contents.length), 1)
    if (content !== undefined) this.#records.remove(this.#records.find(content.digest))
  }

  #check(digest: Int32Array): void {
    const name = `seed ${this.#seed}`
    const expected = this.#contents.find((content) => isSame(content.digest, digest))
    const record = this.#records.find(digest)
    assert.equal(record >= 0, expected !== undefined, name)
    if (expected === undefined) return
    const id = new Int32Array(4)
    this.#records.copyId(record, id)
    assert.deepEqual(id, expected.id, name)
    assert.equal(this.#records.shapeOf(record), expected.shape, name)
    assert.equal(this.#records.expiryOf(record), expected.expiresAt, name)
    assert.equal(this.#records.secondWordOf(record), digest[1], name)
    this.#checkRegion(this.#records.regionOf(record), record, id)
  }

  /** Checks that a region yields exactly its own records, and that an id is found in it. */
  #checkRegion(region: number, record: number, id: Int32Array): void {
    const inRegion: number[] = []
    let each = this.#records.firstIn(region)
    for (; each >= 0; each = this.#records.nextIn(region, each)) inRegion.push(each)
    assert.ok(inRegion.includes(record))
    const regions = this.#contents.map(({ digest }) => {
      return this.#records.regionOf(this.#records.find(digest))
    })
    assert.equal(inRegion.length, regions.filter((one) => one === region).length)
    const byId = this.#records.findById(region, id)
    const found = new Int32Array(4)
    this.#records.copyId(byId, found)
    assert.deepEqual(found, id)
    id[3] = -7
    assert.equal(this.#records.findById(region, id), -1)
  }

  /**
   * Most digests are close to one another; some differ only in the bits that select the segment, or in the last ones
   * compared.
   */
  #digest(): number[] {
    const hash = hashesAtEdges[this.#below(hashesAtEdges.length)] ?? 0
    const near = this.#random() < 0.7 ? hash : hash + this.#below(40) - 20
    const last = (this.#below(3) << 25) | (this.#below(3) << 13)
    return [near, this.#below(2), this.#below(2), last]
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

function contentOf(digest: readonly number[], number: number): RecordContent {
  return {
    digest: Int32Array.from(digest, (word) => word | 0),
    id: Int32Array.of(number, 2 * number, 3 * number, 4 * number),
    shape: 1 + (number % 1000),
    expiresAt: number % 3 === 0 ? undefined : number,
  }
}

function isSame(one: Int32Array, other: Int32Array): boolean {
  return one.every((word, at) => word === other[at])
}
