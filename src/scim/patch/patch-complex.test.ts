import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../protocol/json.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-request.ts'
import { readResource, type Resource } from '../schema/resource.ts'
import { userType } from '../schema/schema-group.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const manager = `${enterprise}:manager`

function user(more: Record<string, Json> = {}): Resource {
  return readResource(userType, {
    schemas: [userType.schema.id],
    userName: 'bjensen@example.com',
    name: { givenName: 'Barbara', familyName: 'Jensen', formatted: 'Barbara Jensen' },
    ...more,
  })
}

function patch(resource: Resource, ...operations: Json[]): Resource {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp']
  return applyPatch(userType, resource, readPatch({ schemas, Operations: operations })).resource
}

describe('a change of a complex value touches only the parts that it names (RFC 7644 section 3.5.2.3)', () => {
  const changed = { givenName: 'Barbara', familyName: 'Smith', formatted: 'Barbara Jensen' }
  const operations: Record<string, Json> = {
    'replace at the path': { op: 'replace', path: 'name', value: { familyName: 'Smith' } },
    'add at the path': { op: 'add', path: 'name', value: { familyName: 'Smith' } },
    'replace without a path': { op: 'replace', value: { name: { familyName: 'Smith' } } },
    'replace of the part': { op: 'replace', path: 'name.familyName', value: 'Smith' },
    'replace at the path with the URN': {
      op: 'Replace',
      path: `${userType.schema.id}:name`,
      value: { FamilyName: 'Smith' },
    },
    'replace with the object in a list': {
      op: 'replace',
      path: 'name',
      value: [{ familyName: 'Smith' }],
    },
  }
  for (const [how, operation] of Object.entries(operations)) {
    test(`${how} keeps the other parts`, () => {
      assert.deepEqual(patch(user(), operation)['name'], changed)
    })
  }

  test('null unassigns the part that it is given to, and only that', () => {
    for (const value of [{ formatted: null }, { formatted: null, nickname: 'x' }] as Json[]) {
      for (const operation of [
        { op: 'replace', path: 'name', value },
        { op: 'replace', value: { name: value } },
      ]) {
        const { name } = patch(user(), operation)
        assert.deepEqual(name, { givenName: 'Barbara', familyName: 'Jensen' })
      }
    }
  })

  test('an object without parts changes nothing; null for the whole unassigns the whole', () => {
    const before = user()
    assert.deepEqual(patch(before, { op: 'replace', path: 'name', value: {} }), before)
    assert.deepEqual(patch(before, { op: 'replace', value: { name: {} } }), before)
    assert.equal(patch(before, { op: 'replace', path: 'name', value: null })['name'], undefined)
  })

  test('the extension keeps what a change of one of its attributes does not name', () => {
    const before = user({ [enterprise]: { department: 'R', manager: { value: 'm1' } } })
    const after = patch(before, { op: 'replace', path: enterprise, value: { costCenter: '7' } })
    assert.deepEqual(after[enterprise], {
      department: 'R',
      manager: { value: 'm1' },
      costCenter: '7',
    })
  })
})

describe('a manager that comes with its address only (RFC 7643 section 4.3)', () => {
  const $ref = 'https://x.test/scim/v2/Users/m9'
  const kept = { manager: { value: 'm9', $ref } }

  test('is kept with the id in which the address ends', () => {
    assert.deepEqual(user({ [enterprise]: { manager: { $ref } } })[enterprise], kept)
    const slash = user({ [enterprise]: { manager: { $ref: `${$ref}/` } } })[enterprise]
    assert.deepEqual(slash, { manager: { value: 'm9', $ref: `${$ref}/` } })
  })

  test('takes the place of the one before, however PATCH writes it', () => {
    const before = user({ [enterprise]: { manager: { value: 'm1', $ref: '../Users/m1' } } })
    for (const operation of [
      { op: 'replace', path: manager, value: { $ref } },
      { op: 'add', path: `${manager}.$ref`, value: $ref },
      { op: 'add', value: { [manager]: { $ref } } },
      { op: 'replace', path: enterprise, value: { manager: { $ref } } },
    ]) {
      assert.deepEqual(patch(before, operation)[enterprise], kept, JSON.stringify(operation))
    }
    const renewed = patch(before, { op: 'replace', path: manager, value: { value: 'm2' } })
    assert.deepEqual(renewed[enterprise], { manager: { value: 'm2' } })
  })

  test('an empty address changes nothing of a manager with an id', () => {
    const before = user({ [enterprise]: { manager: { value: 'm1' } } })
    const after = patch(before, { op: 'replace', path: manager, value: { $ref: '' } })
    assert.deepEqual(after[enterprise], { manager: { value: 'm1' } })
  })
})
