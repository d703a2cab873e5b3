import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../errors.ts'
import { mintCredential } from '../secrets/index.ts'
import { cidrContains, parseCidr } from './key-fields/cidr.ts'
import { keyAtHand, readKey } from './credential.ts'
import type { Scheme } from './schemes.ts'

const plain = mintCredential('svc_live_').secret.reveal()
const bearer = mintCredential('sk_live_').secret.reveal()
const both: readonly Scheme[] = ['x-api-key', 'bearer']

test('each scheme’s key is read in its own header', () => {
  assert.deepEqual(readKey({ xApiKey: [plain], authorization: [] }, both), {
    text: plain,
    scheme: 'x-api-key',
  })
  for (const value of [`Bearer ${bearer}`, `bearer ${bearer}`, `BEARER   ${bearer} `]) {
    assert.deepEqual(readKey({ xApiKey: [], authorization: [value] }, both), {
      text: bearer,
      scheme: 'bearer',
    })
  }
})

const refusals: readonly (readonly [string, string[], string[]])[] = [
  ['credential_missing', [], []],
  ['credential_invalid', [''], []],
  ['credential_invalid', ['x'.repeat(67)], []],
  ['credential_invalid', [`${plain}, ${plain}`], []],
  ['credential_invalid', [plain.toUpperCase()], []],
  ['credential_invalid', [], [bearer]],
  ['credential_invalid', [], [`Basic ${bearer}`]],
  ['credential_invalid', [], [`Bearer\t${bearer}`]],
  ['credential_invalid', [], [`Bearer\u00a0${bearer}`]],
  ['credential_invalid', [], [`Bearer "${bearer}"`]],
  ['credential_invalid', [], [`Bearer ${bearer},${bearer}`]],
  ['credential_invalid', [], [`Bearer ${bearer} x`]],
  ['credential_wrong_header', [bearer], []],
  ['credential_wrong_header', [], [`Bearer ${plain}`]],
  ['credential_ambiguous', [plain, plain], []],
  ['credential_ambiguous', [plain, 'x'], []],
  ['credential_ambiguous', [plain], [`Bearer ${bearer}`]],
  ['credential_ambiguous', [], [`Bearer ${bearer}`, `Bearer ${bearer}`]],
]

for (const [code, xApiKey, authorization] of refusals) {
  test(`${JSON.stringify([xApiKey, authorization]).slice(0, 60)} is ${code}`, () => {
    const refusal = readKey({ xApiKey, authorization }, both)
    assert.ok(refusal instanceof Problem && refusal.code === code)
  })
}

test('a scheme that is switched off lets nobody in', () => {
  const refusal = readKey({ xApiKey: [plain], authorization: [] }, ['bearer'])
  assert.ok(refusal instanceof Problem && refusal.code === 'credential_invalid')
})

const inside: readonly (readonly [string, string])[] = [
  ['10.0.0.0/8', '10.255.0.1'],
  ['10.0.0.0/8', '::ffff:10.1.2.3'],
  ['192.0.2.7', '192.0.2.7'],
  ['0.0.0.0/0', '203.0.113.9'],
  ['2001:db8::/32', '2001:db8:1::5'],
  ['::1', '::1'],
  ['::ffff:10.0.0.0/104', '10.9.9.9'],
]
const outside: readonly (readonly [string, string])[] = [
  ['10.0.0.0/8', '11.0.0.1'],
  ['0.0.0.0/0', '2001:db8::1'],
  ['2001:db8::/32', '2001:db9::'],
  ['10.0.0.0/8', 'unknown'],
  ['10.0.0.0/8', ''],
]

test('a range of addresses holds what it says and no more', () => {
  for (const [range, address] of inside) assert.ok(cidrContains(parseCidr(range), address), range)
  for (const [range, address] of outside) assert.ok(!cidrContains(parseCidr(range), address), range)
  for (const wrong of [
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '010.0.0.1',
    '::/129',
    ':::',
    '1::2::3',
    'a/8',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
  ]) {
    assert.throws(() => parseCidr(wrong), Problem, wrong)
  }
})

test('only a key that is alone, in the header of its scheme and of the right length may be a remembered one', () => {
  const alone = { apiKey: plain, apiKeyCount: 1, authorizationCount: 0 }
  assert.equal(keyAtHand(alone, both), plain)
  assert.equal(keyAtHand(alone, ['bearer']), undefined)
  for (const other of [
    { apiKeyCount: 2 },
    { authorizationCount: 1 },
    { apiKey: undefined, apiKeyCount: 0 },
    { apiKey: bearer },
    { apiKey: plain.slice(0, -1) },
    { apiKey: `${plain}x` },
    { apiKey: plain.toUpperCase() },
  ]) {
    assert.equal(keyAtHand({ ...alone, ...other }, both), undefined, JSON.stringify(other))
  }
})
