// The gateway has two request parsers, the plain and the standard lane, which could disagree on where a request ends.
// `npm run torture -- lanes` compares them with a million messages.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  disagreement,
  messagesTo,
  places,
  randomConversation,
  randomPieces,
  type Lanes,
} from '../harness/lanes/compare.ts'
import { guarded, LaneObserver } from '../harness/lanes/observe.ts'
import { randomFrom } from '../harness/random.ts'

const randomMessages = 3000
const randomConversations = 1000
const seed = 20_261_122

describe('the plain lane beside the standard lane', () => {
  let lanes: Lanes
  before(() => {
    lanes = { plain: new LaneObserver('plain'), standard: new LaneObserver('standard') }
  })
  after(async () => {
    await lanes.plain[Symbol.asyncDispose]()
    await lanes.standard[Symbol.asyncDispose]()
  })

  async function agree(pieces: readonly Buffer[]): Promise<void> {
    assert.equal(await disagreement(lanes, pieces), undefined)
  }

  for (const place of places) {
    test(`the lanes agree on every message of the corpus to ${place}`, async () => {
      for (const [, bytes] of messagesTo(place)) await agree([bytes])
    })
  }

  test('the lanes agree on every message of the corpus, cut in two at each of its first 300 bytes', async () => {
    for (const [, bytes] of messagesTo('now')) {
      for (let cut = 1; cut < Math.min(bytes.length, 300); cut++) {
        await agree([bytes.subarray(0, cut), bytes.subarray(cut)])
      }
    }
  })

  test('the lanes agree on every message of the corpus, sent byte by byte', async () => {
    for (const [, bytes] of messagesTo('up/x')) {
      if (bytes.length < 300) await agree([...bytes].map((byte) => Buffer.from([byte])))
    }
  })

  test(`the lanes agree on ${randomConversations} connections on which header lines come again`, async () => {
    const random = randomFrom(seed)
    for (let left = randomConversations; left > 0; left--) await agree(randomConversation(random))
  })

  test('the lanes differ only as intended where a response waits that was asked for with Expect', async () => {
    const waiting =
      'POST /app HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok'
    for (const place of ['later', 'up/x', 'up/none']) {
      const first = `GET ${guarded}/${place} HTTP/1.1\r\nHost: a\r\n\r\n`
      await agree([Buffer.from(first + waiting)])
      await agree([Buffer.from(first + waiting + first)])
    }
  })

  test('both lanes ignore bytes after an answered request with Connection: close, also those that come with its body', async () => {
    const head = `POST ${guarded}/later/1 HTTP/1.1\r\nConnection: close\r\nHost: a\r\nContent-Length: 2\r\n\r\n`
    const next = `GET ${guarded}/later/2 HTTP/1.1\r\nHost: a\r\n\r\n`
    for (const texts of [
      [head, `ab${next}`],
      [`${head}ab`, next],
    ]) {
      const pieces = texts.map((text) => Buffer.from(text, 'latin1'))
      await agree(pieces)
      const { received, state } = await lanes.standard.observe(pieces)
      assert.match(received, /^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\nPOST [^]*ab$/)
      assert.equal(state, 'ended')
    }
  })

  test(`the lanes agree on ${randomMessages} mutated messages`, async () => {
    const random = randomFrom(seed)
    for (let left = randomMessages; left > 0; left--) await agree(randomPieces(random))
  })
})
