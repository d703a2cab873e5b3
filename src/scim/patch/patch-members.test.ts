import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ScimError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-request.ts'
import { groupType } from '../schema/schema-group.ts'

function message(operations: readonly Json[]): Json {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations }
}

function scimType(type: string): (error: unknown) => boolean {
  return (error) => error instanceof ScimError && error.status === 400 && error.scimType === type
}

describe('PATCH of groups', () => {
  function steps(...operations: Json[]): unknown {
    const group = { displayName: 'Staff' }
    return applyPatch(groupType, group, readPatch(message(operations))).members
  }

  test('member changes are steps, however they are written', () => {
    const member = { value: 'u1', display: 'Babs' }
    assert.deepEqual(
      steps({ op: 'Add', path: 'members', value: [member, { value: 'u2', type: 'User' }] }),
      [{ kind: 'add', ids: ['u1', 'u2'] }],
    )
    assert.deepEqual(steps({ op: 'add', path: 'members', value: member }), [
      { kind: 'add', ids: ['u1'] },
    ])
    assert.deepEqual(steps({ op: 'Remove', path: 'members', value: [member] }), [
      { kind: 'remove', ids: ['u1'] },
    ])
    assert.deepEqual(steps({ op: 'remove', path: 'members[value eq "u1"]' }), [
      { kind: 'remove', ids: ['u1'] },
    ])
    assert.deepEqual(steps({ op: 'remove', path: 'members' }), [{ kind: 'clear' }])
    assert.deepEqual(steps({ op: 'replace', value: { members: [member], displayName: 'New' } }), [
      { kind: 'replace', ids: ['u1'] },
    ])
    assert.deepEqual(
      steps({ op: 'add', path: 'members', value: [{ $ref: 'https://x/scim/v2/Users/u9' }] }),
      [{ kind: 'add', ids: ['u9'] }],
    )
  })

  test('groups within groups, members without id and changed members are refused', () => {
    assert.throws(
      () => steps({ op: 'add', path: 'members', value: [{ value: 'g', type: 'Group' }] }),
      scimType('invalidValue'),
    )
    assert.throws(
      () => steps({ op: 'add', path: 'members', value: [{ display: 'x' }] }),
      scimType('invalidValue'),
    )
    assert.throws(
      () => steps({ op: 'replace', path: 'members[value eq "a"].value', value: 'b' }),
      scimType('mutability'),
    )
  })

  test('Okta renames a group and repeats its id', () => {
    const group = { id: 'grp_1', displayName: 'Staff' }
    const operation = { op: 'replace', value: { id: 'grp_1', displayName: 'New' } }
    assert.equal(
      applyPatch(groupType, group, readPatch(message([operation]))).resource['displayName'],
      'New',
    )
    const other = { op: 'replace', value: { id: 'grp_2' } }
    assert.throws(
      () => applyPatch(groupType, group, readPatch(message([other]))),
      scimType('mutability'),
    )
  })
})
