import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRelyingParty } from './index.ts'

const issuer = 'https://idp.test'
const document = {
  issuer,
  authorization_endpoint: `${issuer}/a`,
  token_endpoint: `${issuer}/t`,
  jwks_uri: `${issuer}/k`,
}

describe('what is known of providers', () => {
  function party() {
    const state = { now: 0, asked: 0, down: false }
    const relyingParty = createRelyingParty({
      clock: { now: () => state.now, monotonic: () => state.now },
      allowLoopback: false,
      mintTokenId: () => 'jti',
      fetch: async () => {
        state.asked++
        if (state.down) throw new TypeError('down')
        return Response.json(document)
      },
    })
    return { state, relyingParty }
  }

  test('is kept for ten minutes, and asked for once however many wait', async () => {
    const { state, relyingParty } = party()
    await Promise.all(Array.from({ length: 20 }, async () => await relyingParty.provider(issuer)))
    assert.equal(state.asked, 1)
    state.now += 11 * 60_000
    await relyingParty.provider(issuer)
    assert.equal(state.asked, 2)
  })

  test('a provider that is down is not asked again by everybody who tries', async () => {
    const { state, relyingParty } = party()
    state.down = true
    for (let turn = 0; turn < 50; turn++) {
      await assert.rejects(relyingParty.provider(issuer), { code: 'idp_unreachable' })
    }
    assert.equal(state.asked, 1)
    state.down = false
    state.now += 3_000
    assert.equal((await relyingParty.provider(issuer)).issuer, issuer)
  })

  test('an administrator who saves or tests asks anew', async () => {
    const { state, relyingParty } = party()
    await relyingParty.provider(issuer)
    await relyingParty.provider(issuer, { fresh: true })
    assert.equal(state.asked, 2)
  })

  test('without loopback, http is no issuer at all', async () => {
    const { relyingParty } = party()
    for (const bad of [
      'http://127.0.0.1/',
      'http://localhost',
      'http://idp.test',
      'https://idp.test/?a=1',
    ]) {
      await assert.rejects(relyingParty.provider(bad), { code: 'idp_discovery_invalid' })
    }
  })
})
