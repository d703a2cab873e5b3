import assert from 'node:assert/strict'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { isWebhookSecret, mintWebhookKeyPair, mintWebhookSecret } from '../../secrets/index.ts'
import { verifyDelivery } from '../index.ts'
import { createDeliverySigner } from './signatures.ts'

const body = Buffer.from('{"id":"evt_1","type":"webhook.ping","data":{"text":"grüße"}}')

describe('signatures of deliveries', () => {
  test('a minted secret is base64 to the strictest decoder, and its checksum catches a typing error', () => {
    for (let round = 0; round < 200; round++) {
      const text = mintWebhookSecret().reveal()
      assert.match(text, /^svc_whsec_[A-Za-z0-9]{48}$/)
      assert.ok(isWebhookSecret(text))
      const part = text.slice('svc_whsec_'.length)
      assert.equal(Buffer.from(part, 'base64').toString('base64'), part)
      const wrong = text.slice(0, -1) + (text.endsWith('A') ? 'B' : 'A')
      assert.ok(!isWebhookSecret(wrong))
    }
  })

  test('unmodified libraries verify; a flipped bit anywhere fails them and us', () => {
    const secret = mintWebhookSecret()
    const now = Date.now()
    const signer = createDeliverySigner([{ secret, validUntil: undefined }], undefined)
    const headers = signer.sign('evt_1', body, now)
    const libraries = [Standard, Svix].map((Library) => new Library(secret.reveal().slice(4)))
    for (const library of libraries) assert.ok(library.verify(body, headers))
    assert.equal(verifyDelivery({ headers, body }, secret.reveal(), now), undefined)

    for (let bit = 0; bit < body.length * 8; bit += 7) {
      const altered = Buffer.from(body)
      altered[bit >> 3]! ^= 1 << (bit & 7)
      assert.ok(verifyDelivery({ headers, body: altered }, secret.reveal(), now))
      for (const library of libraries) assert.throws(() => library.verify(altered, headers))
    }
    const alterations: Record<string, string>[] = [
      { 'webhook-id': 'evt_2' },
      { 'webhook-timestamp': String(Math.floor(now / 1000) - 1) },
      { 'webhook-signature': headers['webhook-signature']!.replace('v1,', 'v2,') },
      { 'webhook-signature': headers['webhook-signature']!.slice(0, -2) },
      { 'webhook-signature': 'v1,' },
      { 'webhook-signature': '' },
    ]
    for (const alteration of alterations) {
      const altered = { ...headers, ...alteration }
      assert.ok(verifyDelivery({ headers: altered, body }, secret.reveal(), now))
      for (const library of libraries) assert.throws(() => library.verify(body, altered))
    }
    const reserialised = Buffer.from(JSON.stringify(JSON.parse(body.toString()), undefined, 1))
    assert.throws(() => libraries[0]!.verify(reserialised, headers))
    const other = new Standard(mintWebhookSecret().reveal().slice(4))
    assert.throws(() => other.verify(body, headers))
  })

  test('a timestamp more than five minutes away is refused', () => {
    const secret = mintWebhookSecret()
    const signer = createDeliverySigner([{ secret, validUntil: undefined }], undefined)
    for (const shift of [-301_000, 302_000]) {
      const headers = signer.sign('evt_1', body, Date.now() + shift)
      assert.match(verifyDelivery({ headers, body }, secret.reveal(), Date.now()) ?? '', /five/)
      assert.throws(() => new Standard(secret.reveal().slice(4)).verify(body, headers))
    }
  })

  test('during a rotation both secrets verify, afterwards only the new one', () => {
    const [fresh, old] = [mintWebhookSecret(), mintWebhookSecret()]
    const now = Date.now()
    const signer = createDeliverySigner(
      [
        { secret: fresh, validUntil: undefined },
        { secret: old, validUntil: now + 1000 },
      ],
      undefined,
    )
    const during = signer.sign('evt_1', body, now)
    assert.equal(during['webhook-signature']!.split(' ').length, 2)
    for (const secret of [fresh, old]) {
      for (const Library of [Standard, Svix]) {
        assert.ok(new Library(secret.reveal().slice(4)).verify(body, during))
      }
    }
    const afterwards = signer.sign('evt_1', body, now + 1000)
    assert.ok(new Standard(fresh.reveal().slice(4)).verify(body, afterwards))
    assert.throws(() => new Standard(old.reveal().slice(4)).verify(body, afterwards))
  })

  test('the plain signature is HMAC-SHA256 over the raw body by the whole text of the secret', () => {
    const secret = mintWebhookSecret()
    const signer = createDeliverySigner([{ secret, validUntil: undefined }], undefined)
    const plain = createHmac('sha256', secret.reveal()).update(body).digest('hex')
    const headers = signer.sign('evt_1', body, Date.now())
    assert.equal(headers['intercept-signature-256'], `sha256=${plain}`)
  })

  test('v1a verifies with the published Ed25519 key, and libraries that know only v1 are not disturbed', () => {
    const secret = mintWebhookSecret()
    const pair = mintWebhookKeyPair()
    const signer = createDeliverySigner([{ secret, validUntil: undefined }], pair.privateKey)
    const headers = signer.sign('evt_1', body, Date.now())
    assert.ok(new Standard(secret.reveal().slice(4)).verify(body, headers))
    const signature = /v1a,(\S+)/.exec(headers['webhook-signature']!)![1]!
    // RFC 8410, section 4: the 32 raw bytes follow a fixed prefix.
    const raw = Buffer.from(pair.publicKey.slice('whpk_'.length), 'base64')
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const message = Buffer.concat([Buffer.from(`evt_1.${headers['webhook-timestamp']}.`), body])
    assert.ok(verify(null, message, key, Buffer.from(signature, 'base64')))
    message[0]! ^= 1
    assert.ok(!verify(null, message, key, Buffer.from(signature, 'base64')))
  })
})
