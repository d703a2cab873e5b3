import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ScimError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-request.ts'
import { readResource } from '../schema/resource.ts'
import { groupType, userType } from '../schema/schema-group.ts'

const many = Array.from({ length: 490 }, (_, at) => ({ value: `m${at}@acme.test` }))
const anyOf = (amount: number): string =>
  Array.from({ length: amount }, (_, at) => `value co "${at}x"`).join(' or ')

test('operations that would go through lists for seconds are too many, before they do', () => {
  const user = readResource(userType, {
    schemas: [userType.schema.id],
    userName: 'a',
    emails: many,
    phoneNumbers: many,
  })
  const same = { op: 'add', value: { emails: many.slice(0, 1), phoneNumbers: many.slice(0, 1) } }
  const all = { op: 'add', path: 'emails', value: many }
  const where = { op: 'replace', path: `emails[value pr or ${anyOf(40)}].display`, value: 'a' }
  assert.throws(() => applyPatch(userType, user, patch(same, 1000)), isTooMany)
  assert.throws(() => applyPatch(userType, user, patch(where, 1000)), isTooMany)
  assert.throws(() => applyPatch(userType, user, patch(all, 2)), isTooMany)
  applyPatch(userType, user, patch(all, 1))
  // The same values are also accepted as one operation each.
  const single = many.map((value) => ({ op: 'add', path: 'emails', value: [value] }))
  const bare = readResource(userType, { schemas: [userType.schema.id], userName: 'a' })
  const { resource } = applyPatch(userType, bare, readPatch(message(single)))
  assert.equal((resource['emails'] as unknown[]).length, many.length)
  applyPatch(userType, user, patch(where, 10))
})

test('filters that would be asked of all members again and again are too many, named members are not', () => {
  const group = readResource(groupType, { schemas: [groupType.schema.id], displayName: 'a' })
  const named = { op: 'remove', path: 'members[value eq "a"]' }
  const asked = { op: 'remove', path: 'members[value sw "a"]' }
  const long = { op: 'remove', path: `members[${anyOf(20)}]` }
  assert.equal(applyPatch(groupType, group, patch(named, 1000)).members.length, 1000)
  assert.equal(applyPatch(groupType, group, patch(asked, 10)).members.length, 10)
  assert.throws(() => applyPatch(groupType, group, patch(asked, 11)), isTooMany)
  assert.throws(() => applyPatch(groupType, group, patch(long, 4)), isTooMany)
})

function patch(operation: Json, times: number): ReturnType<typeof readPatch> {
  return readPatch(message(Array.from({ length: times }, () => operation)))
}

function message(operations: readonly Json[]): Json {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations }
}

function isTooMany(error: unknown): boolean {
  return error instanceof ScimError && error.status === 413 && error.scimType === 'tooMany'
}

test('paths that are too long together are refused before any of them is read', () => {
  const filter = anyOf(40)
  const where = { op: 'replace', path: `emails[${filter}].display`, value: 'a' }
  assert.throws(() => patch(where, 1000), isTooMany)
  patch(where, Math.floor(200_000 / where.path.length))
  patch({ op: 'remove', path: `members[value eq "${'m'.repeat(100)}"]` }, 1000)
})
