import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintCredential, mintWebhookSecret, type Secret } from '../../secrets/index.ts'
import { createSecretFinder } from './secret-finder.ts'

test('a found secret is named by the hint under which it is shown everywhere else', () => {
  const minted: readonly Secret[] = [
    ...['svc_live_', 'sk_live_', 'svc_admin_', 'svc_scim_'].map(
      (prefix) => mintCredential(prefix).secret,
    ),
    mintWebhookSecret(),
  ]
  const found = createSecretFinder().push(
    Buffer.from(minted.map((secret) => secret.reveal()).join('\n')),
  )
  assert.deepEqual(
    found.map(({ hint, line }) => [hint, line]),
    minted.map(({ hint }, at) => [hint, at + 1]),
  )
})
