import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { RateLimiter } from './rate.ts'

describe('rate limiter', () => {
  test('admits exactly the burst at once, then the rate', () => {
    const limiter = new RateLimiter()
    const rate = { calls: 100, perSeconds: 1 }
    let admitted = 0
    for (let call = 0; call < 150; call++) if (limiter.ask('k', rate, 0, true).admitted) admitted++
    assert.equal(admitted, 100)
    assert.equal(limiter.ask('k', rate, 9, true).admitted, false)
    assert.equal(limiter.ask('k', rate, 10, true).admitted, true)
    assert.equal(limiter.ask('k', rate, 10, true).admitted, false)
  })

  test('over any stretch of time it admits burst + rate × time, within one call', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 50, maxLength: 400 }),
        (calls, perSeconds, gaps) => {
          const limiter = new RateLimiter()
          let now = 0
          let admitted = 0
          for (const gap of gaps) {
            now += gap
            if (limiter.ask('k', { calls, perSeconds }, now, true).admitted) admitted++
          }
          assert.ok(admitted <= calls + (now * calls) / (perSeconds * 1000) + 1)
        },
      ),
    )
  })

  test('asking without spending counts nothing', () => {
    const limiter = new RateLimiter()
    for (let call = 0; call < 10; call++) {
      assert.equal(limiter.ask('k', { calls: 1, perSeconds: 60 }, 0, false).admitted, true)
    }
    assert.equal(limiter.size, 0)
  })

  test('says when to come back', () => {
    const limiter = new RateLimiter()
    const rate = { calls: 2, perSeconds: 60 }
    assert.deepEqual(limiter.ask('k', rate, 0, true), {
      admitted: true,
      remaining: 1,
      resetSeconds: 30,
      retrySeconds: 0,
    })
    limiter.ask('k', rate, 0, true)
    assert.deepEqual(limiter.ask('k', rate, 0, true), {
      admitted: false,
      remaining: 0,
      resetSeconds: 60,
      retrySeconds: 30,
    })
  })

  test('a bucket that is full again within a microsecond is full in 0 seconds, not in -0', () => {
    for (const calls of [1e6, 1e9]) {
      for (const nowMs of [0, 1, 1000]) {
        const verdict = new RateLimiter().ask('k', { calls, perSeconds: 1 }, nowMs, true)
        assert.ok(Object.is(verdict.resetSeconds, 0), `${calls}/s at ${nowMs} ms`)
      }
    }
  })

  test('a flood of subjects grows no memory', () => {
    const limiter = new RateLimiter(1000)
    for (let subject = 0; subject < 20_000; subject++) {
      limiter.ask(`s${subject}`, { calls: 1, perSeconds: 60 }, subject / 100, true)
    }
    assert.ok(limiter.size <= 1000)
  })
})
