import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { rateShares } from '../../store/index.ts'
import { deal, whole, type ShareRequest } from './deal.ts'
import { randomFrom } from '../../../test/harness/random.ts'

describe('dealing shares of a rate', () => {
  test('whatever nodes want, give back and die, all shares together are at most the whole', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed)
      const live = new Set(['a', 'b', 'c', 'd'])
      let rows: rateShares.RateShareRecord[] = []
      let now = 1000
      for (let step = 0; step < 60; step++) {
        now += Math.floor(random() * 400)
        if (random() < 0.05) live.delete([...live][0] ?? '')
        if (random() < 0.05) live.add('abcd'[Math.floor(random() * 4)] ?? 'a')
        const nodeId = [...live][Math.floor(random() * live.size)]
        if (nodeId === undefined) continue
        const wants = ['start', 'more', Math.floor(random() * whole)] as const
        const want = wants[Math.floor(random() * 3)] ?? 'start'
        const wholeInMs = random() * 1000
        const result = deal(request({ nodeId, want, wholeInMs }), rows, { now, live })
        const names = new Set([...result.rows, ...result.gone].map((row) => row.nodeId))
        rows = [...rows.filter((row) => !names.has(row.nodeId)), ...result.rows]
        const held = rows.filter((row) => row.nodeId !== '' && live.has(row.nodeId))
        const sum = held.reduce((total, { share }) => total + share, 0)
        assert.ok(sum <= whole, `${sum} in seed ${seed}`)
        assert.ok(result.share >= 0 && result.wholeInMs >= 0 && result.wholeInMs <= 1000)
      }
    }
  })

  test('a share carries what was spent of it, so that nothing is refilled by moving it', () => {
    const live = new Set(['a', 'b'])
    const taken = deal(request({ nodeId: 'a', want: whole }), [], { now: 0, live })
    const given = deal(request({ nodeId: 'a', want: 0, wholeInMs: 800 }), taken.rows, {
      now: 0,
      live,
    })
    const other = deal(request({ nodeId: 'b', want: whole }), given.rows, { now: 300, live })
    assert.equal(other.share, whole)
    assert.equal(other.wholeInMs, 500)
  })

  test('what a dead node held counts as spent', () => {
    const taken = deal(request({ nodeId: 'a', want: whole }), [], { now: 0, live: new Set(['a']) })
    const other = deal(request({ nodeId: 'b', want: whole }), taken.rows, {
      now: 5000,
      live: new Set(['b']),
    })
    assert.equal(other.share, whole)
    assert.equal(other.wholeInMs, 1000)
  })

  test('a share too small for one call is not taken', () => {
    const live = new Set(['a', 'b'])
    const taken = deal(request({ nodeId: 'a', want: whole - 10 }), [], { now: 0, live })
    const other = deal(request({ nodeId: 'b', want: 'start' }), taken.rows, { now: 0, live })
    assert.equal(other.share, 0)
  })
})

function request(changed: Partial<ShareRequest>): ShareRequest {
  return {
    ...{ subjectId: 'key_1', organizationId: 'org_1', nodeId: 'a', want: 'start' as const },
    ...{ least: whole / 10, leastNow: whole / 10, need: whole, demand: 1, short: false },
    ...{ wholeInMs: 0, emptyMs: 1000 },
    ...changed,
  }
}
