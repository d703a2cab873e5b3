import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeForTests } from '../../../../test/harness/store.ts'
import { systemClock } from '../../../clock.ts'
import { Streamed } from '../../core/route.ts'
import { liveRoutes } from './live.ts'

test('the live tail tells nothing that it read while the membership ended', async () => {
  await using opened = await storeForTests('sqlite')
  let asked = 0
  const services = {
    clock: systemClock,
    stopping: new AbortController().signal,
    store: opened.store,
    targets: { slugs: async () => new Map() },
    keys: { names: async () => new Map() },
    sessions: { onChange: () => () => {}, holderOf: async () => ({ userId: 'usr_1', name: 'a' }) },
    // The caller is still a member before the calls are read, but no longer after.
    members: { membershipOf: async () => (++asked === 1 ? {} : undefined) },
  }
  const request = {
    caller: { kind: 'person', person: { userId: 'usr_1', sessionId: 'ses_1' } },
    organization: { id: 'org_1' },
    signal: new AbortController().signal,
  }
  const { handle } = liveRoutes['GET /organizations/:organization/calls/live']
  const streamed = await handle(request as never, services as never)
  assert.ok(streamed instanceof Streamed)
  const told: string[] = []
  for await (const part of streamed.parts) told.push(part)
  assert.deepEqual(told, ['retry: 1000\n\n'])
})
