import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createTransport } from 'nodemailer'
import * as oidc from 'openid-client'
import { browserForTests } from './browser.ts'
import { githubForTests } from './github.ts'
import { idpForTests } from './idp.ts'
import { mailForTests } from './mail.ts'

test('a person signs in at the test provider by typing and clicking, and the id_token verifies', async () => {
  await using idp = await idpForTests({
    people: [{ subject: 'ada', email: 'ada@corp.test', emailVerified: true, name: 'Ada' }],
  })
  await using browser = await browserForTests()
  await using visitor = await browser.visit()
  const landing = createServer((_request, response) => response.end('landed'))
  landing.listen(0, '127.0.0.1')
  await once(landing, 'listening')
  const redirect = `http://127.0.0.1:${(landing.address() as AddressInfo).port}/callback`
  idp.allowRedirect(redirect)
  const configuration = await oidc.discovery(
    new URL(idp.issuer),
    idp.clientId,
    idp.clientSecret,
    undefined,
    { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
  )
  const verifier = oidc.randomPKCECodeVerifier()
  const start = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: redirect,
    scope: 'openid email profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: 'state',
    nonce: 'nonce',
  })
  await visitor.page.goto(start.href)
  await visitor.page.getByLabel('Login').fill('ada@corp.test')
  await visitor.page.getByRole('button', { name: 'Sign in' }).click()
  await visitor.page.waitForURL(/callback/)
  const tokens = await oidc.authorizationCodeGrant(configuration, new URL(visitor.page.url()), {
    pkceCodeVerifier: verifier,
    expectedState: 'state',
    expectedNonce: 'nonce',
  })
  landing.close()
  landing.closeAllConnections()
  assert.equal(tokens.claims()?.['email'], 'ada@corp.test')
  assert.equal(tokens.claims()?.sub, 'ada')
  assert.deepEqual(visitor.findings, [])
})

test('the GitHub look-alike exchanges a code once, with the right verifier only', async () => {
  await using github = await githubForTests({
    people: [
      { id: 7, login: 'ada', emails: [{ email: 'a@b.test', primary: true, verified: true }] },
    ],
  })
  const verifier = 'v'.repeat(43)
  const form = new URLSearchParams({
    login: 'ada',
    redirect_uri: 'http://127.0.0.1/cb',
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: 'read:user user:email',
  })
  const code = async (): Promise<string> => {
    const answer = await fetch(`${github.url}/login/oauth/authorize`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
    })
    return new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
  }
  const exchange = async (code: string, code_verifier: string): Promise<Record<string, string>> => {
    const answer = await fetch(`${github.url}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({
        code,
        code_verifier,
        client_id: github.clientId,
        client_secret: github.clientSecret,
        redirect_uri: 'http://127.0.0.1/cb',
      }),
    })
    return (await answer.json()) as Record<string, string>
  }
  const first = await code()
  assert.equal((await exchange(await code(), 'x'.repeat(43)))['error'], 'bad_verification_code')
  const { access_token } = await exchange(first, verifier)
  assert.equal((await exchange(first, verifier))['error'], 'bad_verification_code')
  const user = await fetch(`${github.apiUrl}/user`, {
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(((await user.json()) as { id: number }).id, 7)
})

test('the test mail server keeps what it receives', async () => {
  await using mail = await mailForTests()
  const transport = createTransport(mail.url)
  await transport.sendMail({ from: 'a@x.test', to: 'b@x.test', subject: 'Hi', text: 'hello' })
  transport.close()
  assert.match((await mail.mailTo('b@x.test')).raw, /Subject: Hi/)
})
