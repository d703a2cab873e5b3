import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyPrincipal, KeyCache, Scheme } from '../access/index.ts'
import type { Moment } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createIdentify } from './identify.ts'
import { digestBytes, mintCredential } from '../secrets/index.ts'

const schemes: readonly Scheme[] = ['x-api-key', 'bearer']
const known = mintCredential('svc_live_').secret.reveal()

/** Identifies callers with a cache that contains one key; counts the database reads that other keys cause. */
function identifyForTests() {
  let nowMs = 1000
  let reads = 0
  const moments: (Moment | undefined)[] = []
  const clock = { now: () => nowMs, monotonic: () => nowMs }
  const principal = { kind: 'key' } as KeyPrincipal
  const keyCache: KeyCache = {
    known: (keyDigest, moment) => {
      moments.push(moment)
      return keyDigest === digestBytes(known) ? principal : undefined
    },
    identify(presented, ...more) {
      // The database may have been awaited by then, so no reading of the clocks may come along.
      assert.equal(more.length, 0)
      if (presented.text === known) return principal
      reads++
      return Promise.reject(new Problem('credential_invalid', 'The API key is not valid.'))
    },
    describe: async () => ({ name: 'known', hint: 'svc_live_…' }),
    recheck: async () => principal,
    onChange: () => undefined,
    size: 1,
  }
  const identify = createIdentify({
    ...{ keyCache, enabledSchemes: schemes, clock },
    failures: { calls: 20, perSeconds: 1, burst: 100 },
  })
  return {
    principal,
    moments,
    reads: () => reads,
    pass: (ms: number) => (nowMs += ms),
    async ask(key: string, address = '192.0.2.7'): Promise<string> {
      const head = { apiKey: key, apiKeyCount: 1, authorization: undefined, authorizationCount: 0 }
      const found = await identify(head, address, { nowMs, machineMs: nowMs, monotonicMs: nowMs })
      if (found instanceof Problem) return found.code
      return found === principal ? 'admitted' : 'somebody else'
    },
  }
}

function unknownKey(): string {
  return mintCredential('svc_live_').secret.reveal()
}

test('over its limit an address costs at most 200 look-ups a second on this node, and is told 429', async () => {
  const { ask, reads, pass } = identifyForTests()
  const answers: string[] = []
  for (let call = 0; call < 1000; call++) answers.push(await ask(unknownKey()))
  assert.ok(answers.slice(0, 100).every((code) => code === 'credential_invalid'))
  assert.ok(answers.slice(100).every((code) => code === 'rate_limited'))
  assert.equal(reads(), 100 + 200)
  // Only sources over their own limits share the 200 look-ups a second; this source is below its limit.
  assert.equal(await ask(unknownKey(), '192.0.2.8'), 'credential_invalid')
  assert.equal(reads(), 301)
  pass(50)
  for (let call = 0; call < 100; call++) await ask(unknownKey())
  assert.ok(reads() <= 301 + 10 + 1, `${reads()} look-ups`)
})

test('a remembered key keeps working from an address over its limit, without a look-up', async () => {
  const { ask, reads } = identifyForTests()
  for (let call = 0; call < 1000; call++) await ask('svc_live_nope')
  assert.equal(await ask('svc_live_nope'), 'rate_limited')
  const before = reads()
  for (let call = 0; call < 1000; call++) assert.equal(await ask(known), 'admitted')
  assert.equal(reads(), before)
})

test('what no key can look like costs no look-up at all, below the limit and above', async () => {
  const { ask, reads } = identifyForTests()
  for (let call = 0; call < 500; call++) await ask(`${known.slice(0, -1)}!`)
  assert.equal(reads(), 0)
})

test('a remembered key is judged by the clocks as they were read when the call arrived, and never by those after a wait', async () => {
  const { ask, moments } = identifyForTests()
  const arrival = { nowMs: 1000, machineMs: 1000, monotonicMs: 1000 }
  assert.equal(await ask(known), 'admitted')
  assert.deepEqual(moments, [arrival])
  // This one is looked up: the stub refuses a moment then.
  assert.equal(await ask(unknownKey()), 'credential_invalid')
})
