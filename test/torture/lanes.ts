// Both lanes get the same bytes: every message of the corpus, split in two at every byte, and a million mutated ones.
import {
  disagreement,
  messagesTo,
  places,
  randomConversation,
  randomPieces,
  type Lanes,
} from '../harness/lanes/compare.ts'
import { LaneObserver } from '../harness/lanes/observe.ts'
import { randomFrom } from '../harness/random.ts'
import type { Torture } from './torture.ts'

const mutatedMessages = 1_000_000
const shortMessages = 500
const maxFindings = 20
/**
 * Every fourth generated connection is a conversation: several requests with the same header lines. More conversations
 * would take too long, because each takes as long as several other connections.
 */
const conversationsEvery = 4
const sayEvery = 100_000

/** `--size` sets the number of mutated messages; `--short` leaves out the splits and most mutated messages. */
export const lanes: Torture = {
  about: 'both lanes agree on the same bytes',
  async run({ short, seed, minutes = Infinity, size, say }) {
    await using plain = new LaneObserver('plain')
    await using standard = new LaneObserver('standard')
    const findings: string[] = []
    const figures = { corpus: 0, mutated: 0 }
    const endsAt = performance.now() + minutes * 60_000
    const goesOn = (): boolean => findings.length < maxFindings && performance.now() < endsAt

    async function check(pieces: readonly Buffer[]): Promise<void> {
      const found = await disagreement({ plain, standard } satisfies Lanes, pieces)
      if (found !== undefined) findings.push(found.slice(0, 4000))
    }

    for (const place of short ? [] : places) {
      for (const [, bytes] of messagesTo(place)) {
        for (let cut = 0; cut < bytes.length && goesOn(); cut++) {
          await check(
            [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0),
          )
          figures.corpus++
        }
      }
      say(`${place}: ${figures.corpus} cut messages, ${findings.length} findings`)
    }
    const random = randomFrom(seed)
    const total = size ?? (short ? shortMessages : mutatedMessages)
    while (figures.mutated < total && goesOn()) {
      const isConversation = figures.mutated % conversationsEvery === 0
      await check(isConversation ? randomConversation(random) : randomPieces(random))
      figures.mutated++
      if (figures.mutated % sayEvery === 0) say(`${figures.mutated} mutated messages`)
    }
    return { findings, figures }
  },
}
