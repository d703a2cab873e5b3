import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { Problem } from '../../src/errors.ts'
import {
  authorizationUrl,
  createRelyingParty,
  faultOf,
  faults,
  readCallback,
} from '../../src/oidc/index.ts'
import type { Check, RelyingParty, SignedIn } from '../../src/oidc/index.ts'
import { half, hostileIdp, jwkOf, signed } from '../harness/hostile-idp.ts'
import type { HostileIdp, Json, Lie } from '../harness/hostile-idp.ts'
import { lies } from '../harness/hostile-lies.ts'

// Legitimate differences between honest providers, all of which must be accepted.
const truths: Readonly<Record<string, Lie>> = {
  es256: {
    sign: ({ claims }, idp) =>
      signed({ alg: 'ES256', kid: 'ec-1' }, claims, 'ES256', idp.ec.privateKey),
  },
  ps256: {
    sign: ({ claims }, idp) =>
      signed({ alg: 'PS256', kid: 'rsa-1' }, claims, 'PS256', idp.rsa.privateKey),
  },
  ed25519: {
    claims: (claims) => without(claims, 'at_hash'),
    sign: ({ claims }, idp) =>
      signed({ alg: 'EdDSA', kid: 'ed-1' }, claims, 'EdDSA', idp.ed.privateKey),
  },
  'no kid but one key': {
    header: () => ({ alg: 'RS256' }),
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.rsa, undefined)] }),
  },
  'keys beside it that nobody can read': {
    keys: (keys) => ({
      keys: [
        { kty: 'AKP', kid: 'pq-1', alg: 'ML-DSA-9999', pub: 'AAAA' },
        { kty: 'made-up', kid: 'x-1', use: 'sig' },
        { kty: 'RSA', kid: 'half' },
        ...keys,
        { kty: 'EC', kid: 'curve', crv: 'P-999', x: 'AA', y: 'AA' },
      ],
    }),
  },
  'a key for encryption of the same name': {
    keys: (keys, idp) => ({ keys: [jwkOf(idp.stranger, 'rsa-1', { use: 'enc' }), ...keys] }),
  },
  'no kid, several keys, one that serves the algorithm': {
    header: () => ({ alg: 'RS256' }),
  },
  'members of discovery that are not known': {
    discovery: (document) => ({
      ...document,
      mtls_endpoint_aliases: { token_endpoint: 'https://mtls.idp.example/token' },
      claims_supported: ['sub'],
      'x-vendor': { deep: [1, null] },
    }),
  },
  'claims that are not known, aggregated ones among them': {
    claims: (claims) => ({
      ...claims,
      amr: ['pwd'],
      acr: '0',
      'https://vendor.example/claim': { a: [1] },
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'http://127.0.0.1:9/groups' } },
    }),
  },
  'no type in the header': { header: () => ({ alg: 'RS256', kid: 'rsa-1' }) },
  'a charset beside the type': {
    keys: (keys) => ({
      headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
      body: JSON.stringify({ keys }),
    }),
  },
  'times with a fraction': {
    claims: (claims) => ({ ...claims, exp: Number(claims['exp']) + 0.5 }),
  },
  'a clock that is half a minute ahead': {
    claims: (claims) => ({ ...claims, iat: Number(claims['iat']) + 30 }),
  },
  'members of the token answer that are not known': {
    token: (answer) => ({ ...answer, refresh_token: 'x', scope: 'openid email', foo: { bar: 1 } }),
  },
  'audience as a list': { claims: (claims) => ({ ...claims, aud: [claims['aud']] }) },
  'several audiences with azp': {
    claims: (claims) => ({ ...claims, aud: [claims['aud'], 'other'], azp: claims['aud'] }),
  },
  'issued five minutes ago, as Entra does': {
    claims: (claims) => ({
      ...claims,
      iat: Number(claims['iat']) - 300,
      nbf: Number(claims['iat']) - 300,
    }),
  },
  c_hash: { claims: (claims, { code }) => ({ ...claims, c_hash: half(code) }) },
  'no at_hash': { claims: (claims) => without(claims, 'at_hash') },
  'embedded header keys are ignored': {
    header: (header, idp) => ({
      ...header,
      jwk: jwkOf(idp.stranger, 'x'),
      jku: 'http://127.0.0.1:9/',
      x5u: 'http://127.0.0.1:9/',
    }),
  },
  'token_type in small letters': { token: (answer) => ({ ...answer, token_type: 'bearer' }) },
  'expires_in as a text': { token: (answer) => ({ ...answer, expires_in: '3599' }) },
  'no UserInfo': { discovery: (document) => without(document, 'userinfo_endpoint') },
  'no iss, none promised': {
    discovery: (document) => without(document, 'authorization_response_iss_parameter_supported'),
    redirect: (answer) => answer.delete('iss'),
  },
  'session_state in the answer': { redirect: (answer) => answer.set('session_state', 'x') },
  'signed UserInfo': {
    userinfo: (claims, idp, clientId) => ({
      headers: { 'content-type': 'application/jwt' },
      body: signed(
        { alg: 'RS256', kid: 'rsa-1' },
        { ...claims, iss: idp.issuer, aud: clientId },
        'RS256',
        idp.rsa.privateKey,
      ),
    }),
  },
  'keys as jwk-set': {
    keys: (keys) => ({
      headers: { 'content-type': 'application/jwk-set+json' },
      body: JSON.stringify({ keys }),
    }),
  },
}
const named = Object.fromEntries(
  Object.entries(truths).map(([name, lie]) => [name.replaceAll(/[^a-z0-9]+/gi, '-'), lie]),
)

describe('a provider that lies is refused at the check that its lie concerns', () => {
  let idp: HostileIdp
  before(async () => void (idp = await hostileIdp({ ...lies, ...named })))
  after(async () => await idp[Symbol.asyncDispose]())

  test('an honest provider is believed', async () => {
    const person = await signIn(partyOf(), idp.issuerOf('honest'))
    assert.equal(person.subject, 'ada')
    assert.equal(person.claims['email'], 'ada@acme.test')
    assert.equal(person.userinfo?.['name'], 'Ada')
  })

  for (const name of Object.keys(named)) {
    test(`what honest providers do is accepted: ${name}`, async () => {
      assert.equal((await signIn(partyOf(), idp.issuerOf(name))).subject, 'ada')
    })
  }

  for (const [name, { stops }] of Object.entries(lies)) {
    test(`${name} is refused at ${stops.join('.')}`, async () => {
      const error = await signIn(partyOf(), idp.issuerOf(name)).then(
        () => assert.fail('it was believed'),
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof Problem, String(error))
      assert.deepEqual(faultOf(error), { step: stops[0], check: stops[1] }, error.message)
      assert.match(error.message, /^[\x20-\x7e«»]+$/)
      assert.ok(!error.message.includes('hostile-secret'))
    })
  }

  test('every check that a sign-in has is reached by a lie', () => {
    const reached = new Set<Check>(Object.values(lies).map(({ stops }) => stops[1]))
    const elsewhere: readonly Check[] = ['address_blocked', 'issuer_syntax']
    const missing = (Object.keys(faults) as Check[]).filter(
      (check) => !reached.has(check) && !elsewhere.includes(check) && !check.startsWith('logout_'),
    )
    assert.deepEqual(missing, [])
  })
})

function without(object: Json, name: string): Json {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
}

function partyOf(): RelyingParty {
  return createRelyingParty({
    fetch: impatient,
    clock: systemClock,
    allowLoopback: true,
    mintTokenId: () => 'jti',
  })
}

/** Fetches like the outbound client, but fails with its time-out error after 1.5 s, where the product waits 5 s. */
const impatient: Parameters<typeof createRelyingParty>[0]['fetch'] = async (url, init) => {
  const limit = AbortSignal.timeout(1_500)
  const late = (error: unknown): unknown =>
    limit.aborted ? Object.assign(new Error('late'), { kind: 'timeout' }) : error
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.any([init.signal, limit]) })
    return { status: answer.status, headers: answer.headers, body: parts(answer, late) }
  } catch (error) {
    throw late(error)
  }
}

async function* parts(answer: Response, late: (error: unknown) => unknown) {
  try {
    for await (const part of answer.body ?? []) yield part
  } catch (error) {
    throw late(error)
  }
}

async function signIn(party: RelyingParty, issuer: string): Promise<SignedIn> {
  const signal = AbortSignal.timeout(1_500)
  const provider = await party.provider(issuer)
  const client = {
    clientId: 'intercept',
    redirectUri: 'http://127.0.0.1:1/callback',
    credential: { kind: 'secret', secret: 'hostile-secret' },
  } as const
  const address = authorizationUrl(provider, {
    clientId: client.clientId,
    redirectUri: client.redirectUri,
    scopes: ['email'],
    state: 'the-state',
    nonce: 'the-nonce',
    challenge: 'challenge',
  })
  const answer = await fetch(address, { redirect: 'manual' })
  const query = new URL(answer.headers.get('location') ?? '').search
  const { code } = readCallback(query, { state: 'the-state', provider })
  return await party.signIn(
    { provider, client, grant: { code, verifier: 'verifier', nonce: 'the-nonce' } },
    { signal },
  )
}
