import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuardedFetch } from '../../packages/client/src/guarded.ts'
import { sendWithRetries } from '../../packages/client/src/retry.ts'

/** Sends a request whose first response has this status and these headers; returns how often the request was sent. */
async function triesAfter(
  status: number,
  { headers = {}, isRepeatable }: { headers?: Record<string, string>; isRepeatable: boolean },
): Promise<number> {
  let tries = 0
  const send = async (): Promise<Response> => {
    tries += 1
    return tries === 1 ? new Response('', { status, headers }) : new Response('')
  }
  await sendWithRetries(send, isRepeatable, { tries: 3, wait: async () => undefined })
  return tries
}

describe('a request that is refused', () => {
  const retry = { 'Retry-After': '1' }

  test('is repeated where nothing was changed, whatever it is', async () => {
    assert.equal(await triesAfter(429, { isRepeatable: false }), 2)
    assert.equal(await triesAfter(503, { headers: retry, isRepeatable: false }), 2)
  })

  test('is repeated after 503 without Retry-After only if it is idempotent', async () => {
    assert.equal(await triesAfter(503, { isRepeatable: false }), 1)
    assert.equal(await triesAfter(503, { isRepeatable: true }), 2)
  })

  test('is repeated after an error of a gateway only if it is idempotent', async () => {
    for (const status of [502, 504]) {
      assert.equal(await triesAfter(status, { headers: retry, isRepeatable: false }), 1)
      assert.equal(await triesAfter(status, { isRepeatable: true }), 2)
    }
  })
})

describe('a guarded call of the client that is refused', () => {
  test('says why, also when the response to a HEAD has no body', async () => {
    const headers = { 'Intercept-Refused': 'credential_revoked', 'Intercept-Request-Id': 'req_1' }
    const guarded = createGuardedFetch({
      ...{ server: 'http://127.0.0.1:1', key: 'svc_live_x' },
      fetch: async () => new Response(null, { status: 401, headers }),
    })
    await assert.rejects(guarded('echo', '/', { method: 'HEAD' }), {
      ...{ name: 'InterceptError', code: 'credential_revoked', status: 401, requestId: 'req_1' },
    })
  })
})
