import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSigner, mintSigningKeyPair } from '../secrets/index.ts'
import { createAssert } from './assertion.ts'

test('an assertion is used again for half its time, and never after the clock was set back or forward', async () => {
  let nowMs = Date.UTC(2026, 0, 1)
  const signer = await loadSigner('one', (await mintSigningKeyPair()).privateJwk)
  const deps = { signingKeys: { signer: () => signer }, clock: { now: () => nowMs } }
  const signed = createAssert({ ...deps, authUrl: 'https://intercept.example' } as never)
  const issuedAt = async (): Promise<number> => {
    const token = await signed({ keyId: 'key_a' } as never, { id: 'tgt_a', slug: 'a' } as never)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return (claims as { iat: number }).iat * 1000
  }
  const first = nowMs
  assert.equal(await issuedAt(), first)
  nowMs += 29_000
  assert.equal(await issuedAt(), first)
  for (const jumpMs of [1000, -3_600_000, 7_200_000]) {
    nowMs += jumpMs
    assert.equal(await issuedAt(), nowMs)
  }
})
