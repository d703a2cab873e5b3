import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  createSealer,
  credentialLength,
  credentialLookup,
  digest,
  digestBytes,
  digestFromHex,
  digestToHex,
  loadSigner,
  mintCredential,
  mintSigningKeyPair,
  Secret,
  signToken,
  verifyToken,
} from './index.ts'
import { checksum } from './mint.ts'

const prefix = 'svc_live_'

test('a minted key carries 256 random bits, a public id and a checksum', () => {
  const { secret, lookup } = mintCredential(prefix)
  const text = secret.reveal()
  assert.match(text, /^svc_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  assert.equal(text.length, credentialLength(prefix))
  assert.equal(credentialLookup(text, prefix), lookup)
  assert.notEqual(mintCredential(prefix).secret.reveal(), text)
})

test('a digest as bytes is the same digest that the database stores in hex', () => {
  const text = mintCredential(prefix).secret.reveal()
  assert.equal(digestToHex(digestBytes(text)), digest(text))
  assert.equal(digestFromHex(digest(text)), digestBytes(text))
  assert.equal(digestBytes(text).length, 32)
})

test('one changed character anywhere in a key is noticed without any look-up', () => {
  const text = mintCredential(prefix).secret.reveal()
  for (let at = 0; at < text.length; at++) {
    const other = text[at] === 'x' ? 'y' : 'x'
    assert.equal(
      credentialLookup(text.slice(0, at) + other + text.slice(at + 1), prefix),
      undefined,
    )
  }
  for (const wrong of ['', prefix, text.slice(1), `${text}A`, text.replace('_live', '_test')]) {
    assert.equal(credentialLookup(wrong, prefix), undefined)
  }
  // Anybody can compute a correct checksum, so the characters must be checked too.
  for (const character of ['!', '-', '_', ' ', '\u00e9']) {
    const body = text.slice(0, -7) + character
    assert.equal(credentialLookup(body + checksum(body), prefix), undefined)
  }
})

test('a secret prints and serialises as its hint', () => {
  const { secret } = mintCredential(prefix)
  const value = secret.reveal()
  for (const text of [
    ['', secret].join(),
    JSON.stringify({ secret }),
    inspect({ secret }),
    String(secret),
  ]) {
    assert.ok(!text.includes(value), text)
    assert.ok(text.includes('…'), text)
  }
  assert.ok(secret instanceof Secret)
})

test('the master key is replaced in rounds: no process of a round meets what it cannot open', () => {
  const [old, fresh] = ['the old master key of more than 32', 'the new master key of more than 32']
  const rounds = [[old], [old, fresh], [fresh, old]].map((keys) => createSealer(keys))
  const last = createSealer([fresh])
  for (const [at, sealer] of rounds.entries()) {
    for (const beside of rounds.slice(Math.max(0, at - 1), at + 2)) {
      assert.equal(beside.open(sealer.seal('x', ['a']), ['a']), 'x')
    }
  }
  assert.equal(last.open(rounds[2]!.seal('x', ['a']), ['a']), 'x')
})

test('a sealed text opens in its own place only', () => {
  const sealer = createSealer(['a master key of more than 32 characters'])
  const sealed = sealer.seal('the upstream’s password', ['org_1', 'tgt_1', 'credential'])
  assert.equal(sealer.open(sealed, ['org_1', 'tgt_1', 'credential']), 'the upstream’s password')
  for (const elsewhere of [
    ['org_2', 'tgt_1', 'credential'],
    ['org_1', 'tgt_2', 'credential'],
    ['org_1', 'tgt_1', 'other'],
    ['org_1tgt_1', 'credential'],
  ]) {
    assert.throws(() => sealer.open(sealed, elsewhere))
  }
  assert.throws(() => sealer.open(`${sealed.slice(0, -2)}AA`, ['org_1', 'tgt_1', 'credential']))
  assert.notEqual(sealer.seal('x', ['a']), sealer.seal('x', ['a']))
})

test('an older master key opens and is replaced; an unknown one opens nothing', () => {
  const old = createSealer(['the old master key, long enough to be one'])
  const sealed = old.seal('x', ['a'])
  const both = createSealer([
    'the new master key, long enough to be one',
    'the old master key, long enough to be one',
  ])
  assert.equal(both.open(sealed, ['a']), 'x')
  assert.ok(both.isOld(sealed))
  assert.ok(!both.isOld(both.seal('x', ['a'])))
  assert.throws(
    () => createSealer(['another master key, unknown to it']).open(sealed, ['a']),
    /unknown key/,
  )
})

test('a token is believed only from our key, of its type, for its audience, in its time', async () => {
  const pair = await mintSigningKeyPair()
  const signer = await loadSigner('k1', pair.privateJwk)
  const nowMs = 1_800_000_000_000
  const claims = {
    iss: 'https://a',
    aud: 'b',
    sub: 'usr_1',
    iat: nowMs / 1000,
    exp: nowMs / 1000 + 60,
  }
  const expected = { typ: 'session+jwt', issuer: 'https://a', audience: 'b', nowMs }
  const jwkOf = (kid: string): string | undefined => (kid === 'k1' ? pair.publicJwk : undefined)
  const token = await signToken(signer, 'session+jwt', claims)

  assert.equal((await verifyToken(token, jwkOf, expected))?.['sub'], 'usr_1')
  const [head = '', body = '', signature = ''] = token.split('.')
  const none = Buffer.from('{"alg":"none","typ":"session+jwt","kid":"k1"}').toString('base64url')
  const refused = [
    `${none}.${body}.`,
    `${none}.${body}.${signature}`,
    `${head}.${body}.`,
    `${head}.${Buffer.from('{}').toString('base64url')}.${signature}`,
    await signToken(signer, 'assertion+jwt', claims),
    await signToken({ ...signer, kid: 'k2' }, 'session+jwt', claims),
    await signToken(signer, 'session+jwt', { ...claims, iss: 'https://evil' }),
    await signToken(signer, 'session+jwt', { ...claims, aud: 'c' }),
    await signToken(signer, 'session+jwt', { ...claims, exp: nowMs / 1000 - 1 }),
    await signToken(signer, 'session+jwt', { ...claims, exp: undefined }),
    await signToken(signer, 'session+jwt', { ...claims, nbf: nowMs / 1000 + 600 }),
    '',
    'a.b.c',
  ]
  for (const wrong of refused)
    assert.equal(await verifyToken(wrong, jwkOf, expected), undefined, wrong)
})
