import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createId } from '../ids.ts'
import type { QuotaClaim, QuotaStanding } from '../store/tables/calls/traffic.ts'
import { ClaimedQuotas, type QuotaSubject } from './quotas.ts'

const calls = 1000
const nowMs = Date.UTC(2027, 0, 15, 12)
const subject: QuotaSubject = {
  organizationId: createId('org', 0),
  ...{ subjectId: 'key_1', kind: 'key', quota: { calls, period: 'day' } },
}
const away = new Error('no connection')
const lost = new Error('the answer got lost')

describe('calls that a node claimed and does not use', () => {
  test('are not lost when the database is away while they are given back', async () => {
    const { book, row } = openBook()
    const quotas = new ClaimedQuotas(book, clock)
    await holdMoreThanNeeded(quotas)
    row.failsWith = away
    for (let flush = 0; flush < 10; flush++) await assert.rejects(quotas.flush(), away)
    row.failsWith = undefined
    await quotas.flush()
    assert.deepEqual([row.claimed, row.spent], [1, 1])
  })

  for (const when of ['before', 'during'] as const) {
    test(`are not lost if another quota needs the room ${when} the next try to give them back`, async () => {
      const { book, row } = openBook()
      const quotas = new ClaimedQuotas(book, clock, 1)
      await holdMoreThanNeeded(quotas)
      row.failsWith = away
      const other = { ...subject, subjectId: 'key_2' }
      const ask = async () => void (await Promise.allSettled([quotas.ask(other, nowMs)]))
      for (let flush = 0; flush < 10; flush++) await assert.rejects(quotas.flush(), away)
      if (when === 'before') await ask()
      else {
        let asking: Promise<void> | undefined
        row.meanwhile = () => void (asking ??= ask())
        await assert.rejects(quotas.flush(), away)
        await asking
      }
      row.failsWith = undefined
      for (let flush = 0; flush < 10; flush++) await quotas.flush()
      assert.deepEqual([row.claimed, row.spent], [1, 1])
    })
  }

  test('are given up when the database may have taken them back already, so that none passes twice', async () => {
    const { book, row } = openBook()
    const quotas = new ClaimedQuotas(book, clock)
    await holdMoreThanNeeded(quotas)
    const { claimed } = row
    row.failsWith = lost
    for (let flush = 0; flush < 10; flush++) await quotas.flush().catch(() => undefined)
    row.failsWith = undefined
    await quotas.flush()
    assert.equal(row.claimed, claimed)
  })

  test('mean nothing any more after another history of the database, however the claim under way ends', async () => {
    const { book, row } = openBook()
    const quotas = new ClaimedQuotas(book, clock)
    await holdMoreThanNeeded(quotas)
    row.failsWith = away
    row.meanwhile = () => row.reset()
    const { claimed } = row
    for (let flush = 0; flush < 10; flush++) await quotas.flush().catch(() => undefined)
    row.failsWith = undefined
    await quotas.flush()
    assert.equal(row.claimed, claimed, 'they may be others’ by now')
  })
})

const clock = { now: () => nowMs, monotonic: () => 0 }

/** Asks for twenty calls but spends only one, so that the node then claims more calls than it needs. */
async function holdMoreThanNeeded(quotas: ClaimedQuotas): Promise<void> {
  for (let asked = 0; asked < 20; asked++) await quotas.ask(subject, nowMs)
  quotas.spend(subject, nowMs)
  await quotas.flush()
}

function openBook() {
  const row = {
    spent: 0,
    claimed: 0,
    failsWith: undefined as Error | undefined,
    reset: () => undefined as void,
    meanwhile: () => undefined as void,
  }
  const book = {
    async claim(claims: readonly QuotaClaim[]): Promise<QuotaStanding[]> {
      row.meanwhile()
      if (row.failsWith !== undefined) throw row.failsWith
      return claims.map(({ spent, wanted, returned, limit }) => {
        row.spent += spent
        const granted = Math.min(wanted, limit - row.claimed + returned)
        row.claimed += granted - returned
        return { spent: row.spent, claimed: row.claimed, granted }
      })
    },
    changedNothing: (error: unknown) => error === away,
    announce: async () => undefined,
    onReset: (reset: () => void) => void (row.reset = reset),
    wait: async () => undefined,
  }
  return { book, row }
}
