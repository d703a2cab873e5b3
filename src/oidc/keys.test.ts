import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { faultOf } from './faults.ts'
import { createKeys, type Keys } from './keys.ts'

const minuteMs = 60_000
const idp = { issuer: 'https://idp.test', keysAddress: 'https://idp.test/jwks' }

describe('published keys', () => {
  function provider(...kids: string[]) {
    const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
    const state = { kids, asked: 0, now: 1_000_000, hold: undefined as Promise<void> | undefined }
    const keys = createKeys({
      clock: { now: () => state.now, monotonic: () => state.now },
      fetch: async () => {
        state.asked++
        await state.hold
        const body = { keys: state.kids.map((kid) => ({ ...jwk, kid })) }
        return Response.json(body)
      },
    })
    return { state, keys }
  }
  const find = async (keys: Keys, kid: string | undefined, again = false) =>
    await keys.find(idp, { step: 'id_token', kid, algorithm: 'EdDSA' }, again)
  const isUnknown = (error: unknown): boolean => faultOf(error)?.check === 'key_unknown'

  test('are asked for once and kept for ten minutes', async () => {
    const { state, keys } = provider('a')
    for (let turn = 0; turn < 50; turn++) await find(keys, 'a')
    assert.equal(state.asked, 1)
    state.now += 11 * minuteMs
    await find(keys, 'a')
    assert.equal(state.asked, 2)
  })

  test('a new key is believed at once: an unknown kid asks again', async () => {
    const { state, keys } = provider('a')
    await find(keys, 'a')
    state.kids = ['b']
    assert.equal((await find(keys, 'b'))['kid'], 'b')
    assert.equal(state.asked, 2)
    await assert.rejects(find(keys, 'a'), isUnknown)
  })

  test('a new key that many sign-ins meet at once is fetched once, and nobody is refused', async () => {
    const { state, keys } = provider('a')
    await find(keys, 'a')
    state.kids = ['b']
    const { promise, resolve } = Promise.withResolvers<void>()
    state.hold = promise
    const all = Array.from({ length: 20 }, async () => await find(keys, 'b'))
    resolve()
    for (const found of await Promise.all(all)) assert.equal(found['kid'], 'b')
    assert.equal(state.asked, 2)
  })

  test('unknown kids cannot make us ask without end; the budget grows back', async () => {
    const { state, keys } = provider('a')
    await find(keys, 'a')
    for (let turn = 0; turn < 100; turn++) await assert.rejects(find(keys, `x${turn}`), isUnknown)
    assert.equal(state.asked, 4)
    assert.equal((await find(keys, 'a'))['kid'], 'a')
    state.now += minuteMs
    for (let turn = 0; turn < 100; turn++) await assert.rejects(find(keys, `y${turn}`), isUnknown)
    assert.equal(state.asked, 6)
  })

  test('an issuer that names the key set of another spends none of its budget', async () => {
    const { state, keys } = provider('a')
    await find(keys, 'a')
    const stranger = { ...idp, issuer: 'https://stranger.test' }
    const wanted = { step: 'id_token', kid: 'unknown', algorithm: 'EdDSA' } as const
    for (let turn = 0; turn < 100; turn++) {
      await assert.rejects(keys.find(stranger, wanted, false), isUnknown)
    }
    state.kids = ['b']
    assert.equal((await find(keys, 'b'))['kid'], 'b')
  })

  test('who may wait no longer goes alone: the others who wait for the same keys get them', async () => {
    const { state, keys } = provider('a')
    const { promise, resolve } = Promise.withResolvers<void>()
    state.hold = promise
    const impatient = new AbortController()
    const wanted = { step: 'id_token', kid: 'a', algorithm: 'EdDSA' } as const
    const first = keys.find(idp, { ...wanted, signal: impatient.signal }, false)
    const second = find(keys, 'a')
    impatient.abort()
    await assert.rejects(first, (error) => faultOf(error)?.check === 'timeout')
    resolve()
    assert.equal((await second)['kid'], 'a')
    assert.equal(state.asked, 1)
  })

  test('logout tokens, which anybody can post, do not use up the budget of sign-ins', async () => {
    const { state, keys } = provider('a')
    await find(keys, 'a')
    for (let turn = 0; turn < 50; turn++) {
      const wanted = { step: 'logout_token', kid: `x${turn}`, algorithm: 'EdDSA' } as const
      await assert.rejects(keys.find(idp, wanted, false), isUnknown)
    }
    assert.equal(state.asked, 4)
    state.kids = ['b']
    assert.equal((await find(keys, 'b'))['kid'], 'b')
  })

  test('an unknown kid on the first look asks once only', async () => {
    const { state, keys } = provider('a')
    await assert.rejects(find(keys, 'z'), isUnknown)
    assert.equal(state.asked, 1)
  })

  test('many who wait share one question', async () => {
    const { state, keys } = provider('a')
    const gate = Promise.withResolvers<void>()
    state.hold = gate.promise
    const waiting = Array.from({ length: 20 }, async () => await find(keys, 'a'))
    gate.resolve()
    await Promise.all(waiting)
    assert.equal(state.asked, 1)
  })

  test('a provider that fails once is asked again by the next sign-in', async () => {
    let fail = true
    const keys = createKeys({
      clock: { now: () => 0, monotonic: () => 0 },
      fetch: async () => {
        if (fail) throw new TypeError('no way')
        const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
        return Response.json({ keys: [jwk] })
      },
    })
    await assert.rejects(find(keys, undefined), { code: 'idp_unreachable' })
    fail = false
    assert.equal((await find(keys, undefined))['kty'], 'OKP')
  })
})
