import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject, RelyingParty } from '../oidc/index.ts'
import type { ProvenIdentity } from '../organizations/index.ts'
import { createGoogle } from './google.ts'

const issuer = 'https://idp.test'
const tokenEndpoint = `${issuer}/token`

describe('whether an address counts as verified', () => {
  test('is said by the source that names the address, and by no other', async () => {
    const email = 'ada@corp.test'
    const cases: { claims: JsonObject; userinfo?: JsonObject; verified: boolean }[] = [
      { claims: { email, email_verified: true }, verified: true },
      { claims: { email }, userinfo: { email, email_verified: true }, verified: false },
      { claims: { email_verified: true }, userinfo: { email }, verified: false },
      {
        claims: { email_verified: true },
        userinfo: { email, email_verified: false },
        verified: false,
      },
      {
        claims: { email_verified: false },
        userinfo: { email, email_verified: true },
        verified: true,
      },
      { claims: {}, userinfo: { email, email_verified: true }, verified: true },
    ]
    for (const { claims, userinfo, verified } of cases) {
      const proven = await signedIn(claims, userinfo)
      assert.equal(proven.email, email)
      assert.equal(proven.emailVerified, verified, JSON.stringify({ claims, userinfo }))
    }
  })

  test('does not matter where no source names an address', async () => {
    const proven = await signedIn({ email_verified: true }, { email_verified: true })
    assert.equal(proven.email, undefined)
    assert.equal(proven.emailVerified, false)
  })
})

async function signedIn(claims: JsonObject, userinfo?: JsonObject): Promise<ProvenIdentity> {
  const relyingParty = {
    provider: async () => ({ issuer, tokenEndpoint, namesItself: false }),
    signIn: async () => ({ issuer, subject: 'ada', claims, userinfo, idToken: '' }),
  } as unknown as RelyingParty
  const google = createGoogle({ relyingParty, issuer, clientId: 'us', clientSecret: 'hush' })
  return await google.finish({
    ...{ query: 'code=c&state=s', redirectUri: 'https://us.test/callback', state: 's' },
    ...{ nonce: 'n', verifier: 'v', issuer, tokenEndpoint },
  })
}
