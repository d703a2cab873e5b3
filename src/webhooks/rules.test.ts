import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventTypes, findEventType } from './events/catalogue.ts'
import {
  freshHealth,
  healthAfter,
  probedNow,
  type EndpointHealth,
} from './delivery/endpoint-health.ts'
import { Pace } from './delivery/pace.ts'
import { nextAttemptAt, parseRetryAfter, retryDelaysMs } from './delivery/schedule.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const failed = { succeeded: false, paced: false, gone: false, asksToDisable: false }
const succeeded = { ...failed, succeeded: true }

describe('the schedule of attempts', () => {
  test('ten attempts over 75.6 hours, each within a fifth of its time', () => {
    assert.equal(retryDelaysMs.length, 10)
    const totalHours = retryDelaysMs.reduce((sum, delay) => sum + delay, 0) / hourMs
    assert.equal(totalHours.toFixed(1), '75.6')
    for (const [attempts, delay] of retryDelaysMs.entries()) {
      if (attempts === 0) continue
      for (const random of [0, 0.25, 0.5, 0.999999]) {
        const at = nextAttemptAt(attempts, { nowMs: 1000, random: () => random })!
        assert.ok(at - 1000 >= delay * 0.8 - 1 && at - 1000 <= delay * 1.2 + 1)
      }
    }
    assert.equal(nextAttemptAt(10, { nowMs: 0, random: Math.random }), undefined)
  })

  test('Retry-After is honoured up to a day and never shortens a wait', () => {
    assert.equal(nextAttemptAt(1, { nowMs: 0, random: () => 0.5, retryAfterMs: 60_000 }), 60_000)
    assert.equal(
      nextAttemptAt(4, { nowMs: 0, random: () => 0.5, retryAfterMs: 60_000 }),
      2 * hourMs,
    )
    assert.equal(nextAttemptAt(1, { nowMs: 0, random: () => 0.5, retryAfterMs: 30 * dayMs }), dayMs)
    const now = Date.parse('2026-11-21T00:00:00Z')
    assert.equal(parseRetryAfter('120', now), 120_000)
    assert.equal(parseRetryAfter('Sat, 21 Nov 2026 00:01:00 GMT', now), 60_000)
    assert.equal(parseRetryAfter('Fri, 20 Nov 2026 00:01:00 GMT', now), 0)
    for (const nonsense of ['', '-1', '1e3', 'soon', '99999999999']) {
      assert.equal(parseRetryAfter(nonsense, now), undefined, nonsense)
    }
  })
})

describe('the health of an endpoint', () => {
  function fail(health: EndpointHealth, times: number, now: number): EndpointHealth {
    let after = health
    for (let time = 0; time < times; time++) after = healthAfter(after, failed, now)
    return after
  }

  test('20 failures in a row hold it, not 19, and a success starts the count afresh', () => {
    const nearly = fail(freshHealth, 19, 0)
    assert.equal(nearly.state, 'active')
    assert.equal(fail(healthAfter(nearly, succeeded, 1), 19, 2).state, 'active')
    assert.equal(fail(nearly, 1, 0).state, 'held')
  })

  test('probes come after 1, 2, 4 … 60 minutes, and the first success resumes', () => {
    let health = fail(freshHealth, 20, 0)
    const waits: number[] = []
    let now = 0
    for (let probe = 0; probe < 9; probe++) {
      waits.push((health.probeAt! - now) / minuteMs)
      now = health.probeAt!
      health = healthAfter(health, failed, now)
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60])
    const resumed = healthAfter(health, succeeded, now)
    assert.deepEqual(resumed, { ...freshHealth, lastSuccessAt: now })
  })

  test('a probe that somebody asks for does not lengthen the wait, however often it fails', () => {
    const first = fail(freshHealth, 20, 0)
    let health = healthAfter(first, failed, first.probeAt!)
    let now = first.probeAt!
    for (let ping = 0; ping < 5; ping++) {
      now += 1000
      // A second request for a probe that is not sent yet changes nothing.
      health = healthAfter(probedNow(probedNow(health, now), now), failed, now)
      assert.equal((health.probeAt! - now) / minuteMs, 2)
    }
    health = healthAfter(health, failed, health.probeAt!)
    assert.equal(health.probeDelayMs, 4 * minuteMs)
    assert.equal(probedNow(freshHealth, now), freshHealth)
  })

  test('it is disabled by 410, at its own request, and by five days without success; then nothing moves it', () => {
    assert.equal(healthAfter(freshHealth, { ...failed, gone: true }, 0).disabledReason, 'gone')
    const asked = healthAfter(freshHealth, { ...succeeded, asksToDisable: true }, 0)
    assert.equal(asked.disabledReason, 'receiver_asked')
    const before = fail(freshHealth, 1, 0)
    assert.equal(fail(before, 1, 5 * dayMs - 1).state, 'active')
    const after = fail(before, 1, 5 * dayMs)
    assert.equal(after.disabledReason, 'failing')
    assert.deepEqual(healthAfter(after, succeeded, 6 * dayMs), after)
  })
})

describe('a receiver that sets its pace', () => {
  const paced = { ...failed, paced: true }

  test('429 with Retry-After never holds an endpoint, and lets a held one resume', () => {
    let health: EndpointHealth = { ...freshHealth, lastSuccessAt: 0 }
    for (let time = 0; time < 1000; time++) health = healthAfter(health, paced, time)
    assert.equal(health.state, 'active')
    assert.equal(health.failures, 0)
    const held: EndpointHealth = { ...freshHealth, state: 'held', failures: 20, probeAt: 0 }
    assert.equal(healthAfter(held, paced, 0).state, 'active')
  })

  test('an endpoint that sets its pace for five days and accepts nothing is disabled', () => {
    const first = healthAfter(freshHealth, paced, 0)
    assert.equal(healthAfter(first, paced, 5 * dayMs - 1).state, 'active')
    assert.equal(healthAfter(first, paced, 5 * dayMs).disabledReason, 'failing')
  })

  test('the first refusal pauses the endpoint as long as it asks', () => {
    const pace = new Pace(false)
    pace.refused('dlv_1', 3000, 1000)
    assert.equal(pace.pauseMs(1000), 3000)
    assert.equal(pace.pauseMs(4000), 0)
  })

  test('two refusals for each success pause only the refused deliveries', () => {
    const pace = new Pace(false)
    for (let number = 0; number < 4; number++) pace.succeeded()
    for (let number = 0; number < 8; number++) pace.refused(`dlv_${number}`, 1000, 0)
    assert.equal(pace.pauseMs(0), 0)
    assert.equal(pace.waiting(999).size, 8)
    assert.equal(pace.waiting(1000).size, 0)
    pace.refused('dlv_9', 1000, 0)
    assert.equal(pace.pauseMs(0), 1000)
  })

  test('an ordered endpoint pauses at each refusal, so that nothing overtakes', () => {
    const pace = new Pace(true)
    for (let number = 0; number < 100; number++) pace.succeeded()
    pace.refused('dlv_1', 1000, 0)
    assert.equal(pace.pauseMs(0), 1000)
  })
})

describe('the catalogue of events', () => {
  test('every type of the contract has a schema that its sample meets', () => {
    for (const { type, schema, sample } of eventTypes) {
      assert.match(type, /^[a-z_]+\.[a-z_]+$/)
      const parts = schema as {
        required: string[]
        properties: Record<string, { required?: string[] }>
      }
      for (const name of parts.required) assert.ok(name in sample, `${type}: ${name}`)
      for (const name of parts.properties['data']!.required ?? []) {
        assert.ok(name in (sample['data'] as object), `${type}: data.${name}`)
      }
    }
  })

  test('no type is published that the catalogue does not know', () => {
    const root = join(import.meta.dirname, '..')
    for (const file of globSync('**/*.ts', { cwd: root })) {
      if (file.endsWith('.test.ts')) continue
      const text = readFileSync(join(root, file), 'utf8')
      for (const [, call = ''] of text.matchAll(/publish\(tx, \{([\s\S]{0,300}?)\}\)/g)) {
        const type = /type: '([a-z_.]+)'/.exec(call)?.[1]
        if (type !== undefined) assert.ok(findEventType(type), `${file}: ${type}`)
      }
    }
  })
})
