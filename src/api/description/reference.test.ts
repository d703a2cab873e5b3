import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteAccess } from '../core/route.ts'
import { route } from '../core/route.ts'
import { renderReference } from './reference.ts'

test('the reference says who may call a route, with a session or with an access token', () => {
  const whoMayCall = (permission: RouteAccess, freshSignIn = false): string => {
    const row = route({ summary: 'X', permission, freshSignIn, handle: async () => undefined })
    const page = renderReference({ 'GET /x': row }, 'https://intercept.test')
    return />X\. <span class="note">For (.*?)\.<\/span>/.exec(page)?.[1] ?? page
  }
  assert.equal(whoMayCall('anyone'), 'anyone')
  assert.equal(whoMayCall('signed-in'), 'people who are signed in')
  assert.equal(whoMayCall('operator'), 'access tokens of an operator')
  assert.equal(whoMayCall('keys.issue'), 'members and access tokens with keys.issue')
  assert.equal(
    whoMayCall('sso.manage', true),
    'members who signed in within the last hour and access tokens, with sso.manage',
  )
  const page = renderReference({}, 'https://intercept.test')
  assert.match(page, /for people with a session and for programs with an access token/)
})
