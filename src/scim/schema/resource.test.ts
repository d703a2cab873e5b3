import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../protocol/json.ts'
import { createProjection } from './projection.ts'
import { readResource, schemasOf } from './resource.ts'
import { groupType, userType } from './schema-group.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

function read(more: Record<string, Json>): Record<string, unknown> {
  return readResource(userType, { schemas: [userType.schema.id], userName: 'a', ...more })
}

describe('reading a resource', () => {
  test('takes what the schema knows, in any case of names, and drops the rest (RFC 7643 section 2.1)', () => {
    const resource = read({
      DISPLAYNAME: 'A',
      password: 'secret',
      groups: [],
      id: '1',
      meta: {},
      emailVerified: true,
      role: 'owner',
      emails: [{ VALUE: 'a@b.c', Type: 'work', Primary: 'True' }],
    })
    assert.deepEqual(resource, {
      userName: 'a',
      displayName: 'A',
      emails: [{ value: 'a@b.c', type: 'work', primary: true }],
    })
  })

  test('null, empty lists and values without content are unassigned (RFC 7643 section 2.5)', () => {
    const resource = read({
      title: null,
      emails: [],
      name: null,
      roles: [{ type: 'x' }],
      [enterprise]: null,
    })
    assert.deepEqual(resource, { userName: 'a' })
  })

  test('reads the extension and says so in schemas', () => {
    const resource = readResource(userType, {
      schemas: [userType.schema.id, enterprise],
      userName: 'a',
      [enterprise.toUpperCase()]: { department: 'R', manager: 'm1' },
    })
    assert.deepEqual(resource[enterprise], { department: 'R', manager: { value: 'm1' } })
    assert.deepEqual(schemasOf(userType, resource), [userType.schema.id, enterprise])
  })

  test('a foreign URN in schemas is passed over (Entra), and so is its data', () => {
    read({
      schemas: [
        userType.schema.id,
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
    })
    for (const more of [
      { 'urn:example:ext:User': { x: 1 } },
      { 'urn:example:ext:User:x': 1 },
      { [`${enterprise}:nothing`]: 1 },
    ] as Record<string, Json>[]) {
      assert.deepEqual(read(more), { userName: 'a' })
    }
  })

  test('bare names of the extension are read into it, and what the extension says goes first', () => {
    for (const more of [
      { Department: 'R', manager: 'm1' },
      { department: 'R', manager: { value: 'm1' } },
      { department: 'other', [enterprise]: { department: 'R', manager: 'm1' } },
      { [enterprise]: { department: 'R', manager: 'm1' }, department: 'other' },
    ] as Record<string, Json>[]) {
      const resource = read(more)
      assert.deepEqual(resource[enterprise], { department: 'R', manager: { value: 'm1' } })
    }
  })

  test("old Entra's active in a list is understood; another list for a single value is not", () => {
    assert.equal(read({ active: [{ value: 'False' }] })['active'], false)
    assert.equal(read({ active: [{ $ref: null, Value: true }] })['active'], true)
    for (const more of [
      { userName: ['a'] },
      { userName: [{ value: 'a' }] },
      { title: ['a'] },
      { active: [true] },
      { active: [{ value: 'True' }, { value: 'True' }] },
      { emails: [{ value: ['a@b.c'] }] },
    ] as Record<string, Json>[]) {
      assert.throws(() => read(more), { status: 400, scimType: 'invalidValue' })
    }
  })

  const wrong: Record<string, [Record<string, Json>, string]> = {
    'no schemas': [{ schemas: null }, 'invalidSyntax'],
    'empty schemas': [{ schemas: [] }, 'invalidSyntax'],
    'the wrong schema': [{ schemas: [groupType.schema.id] }, 'invalidSyntax'],
    'no userName': [{ userName: null }, 'invalidValue'],
    'a blank userName': [{ userName: ' \u00a0' }, 'invalidValue'],
    'a number as userName': [{ userName: 7 }, 'invalidValue'],
    'a text for a list': [{ emails: 'a@b.c' }, 'invalidValue'],
    'a text for an object': [{ name: 'A' }, 'invalidValue'],
    'a list for a text': [{ title: ['a', 'b'] }, 'invalidValue'],
    'a number for a boolean': [{ active: 1 }, 'invalidValue'],
    'two primary values': [
      {
        emails: [
          { value: 'a', primary: true },
          { value: 'b', primary: true },
        ],
      },
      'invalidValue',
    ],
    'the same name in two cases': [{ title: 'a', TITLE: 'b' }, 'invalidSyntax'],
    'the same part in two cases': [{ name: { givenName: 'a', GIVENNAME: 'b' } }, 'invalidSyntax'],
    'a certificate that is not Base64': [
      { x509Certificates: [{ value: 'not base 64' }] },
      'invalidValue',
    ],
    'a control character': [{ title: 'a\u0000b' }, 'invalidValue'],
    'a text of 20,000 characters': [{ title: 'x'.repeat(20_000) }, 'invalidValue'],
  }
  for (const [what, [more, scimType]] of Object.entries(wrong)) {
    test(`${what} is answered with ${scimType}`, () => {
      assert.throws(() => read(more), { status: 400, scimType })
    })
  }
})

describe('projection (RFC 7644 section 3.9)', () => {
  const document = {
    schemas: [userType.schema.id, enterprise],
    id: '1',
    userName: 'a',
    name: { givenName: 'A', familyName: 'B' },
    emails: [{ value: 'a@b.c', type: 'work' }],
    [enterprise]: { department: 'R', costCenter: '1' },
    meta: { resourceType: 'User', created: 'x' },
  }
  const cases: [string[], string[], Record<string, unknown>][] = [
    [[], [], document],
    [['userName'], [], pick('schemas', 'id', 'userName')],
    [['USERNAME', 'nobody'], [], pick('schemas', 'id', 'userName')],
    [['name.givenName'], [], { ...pick('schemas', 'id'), name: { givenName: 'A' } }],
    [['emails.value'], [], { ...pick('schemas', 'id'), emails: [{ value: 'a@b.c' }] }],
    [
      [`${enterprise}:department`],
      [],
      { ...pick('schemas', 'id'), [enterprise]: { department: 'R' } },
    ],
    [[enterprise], [], pick('schemas', 'id', enterprise)],
    [[], ['emails', enterprise, 'meta', 'name'], pick('schemas', 'id', 'userName')],
    [[], ['id', 'schemas'], document],
    [
      [],
      [`${enterprise}:department`, 'name.givenName'],
      { ...document, name: { familyName: 'B' }, [enterprise]: { costCenter: '1' } },
    ],
    [
      ['userName', 'name'],
      ['name.givenName'],
      { ...pick('schemas', 'id', 'userName'), name: { familyName: 'B' } },
    ],
  ]
  for (const [attributes, excluded, expected] of cases) {
    test(`attributes=${attributes.join(',')} excludedAttributes=${excluded.join(',')}`, () => {
      assert.deepEqual(createProjection(userType, attributes, excluded).apply(document), expected)
    })
  }

  test('says which attributes need not be loaded', () => {
    assert.equal(createProjection(groupType, [], ['members']).shows('members'), false)
    assert.equal(createProjection(groupType, ['displayName'], []).shows('members'), false)
    assert.equal(createProjection(groupType, ['members.value'], []).shows('members'), true)
    assert.equal(createProjection(groupType, [], []).shows('members'), true)
  })

  function pick(...names: string[]): Record<string, unknown> {
    return Object.fromEntries(Object.entries(document).filter(([name]) => names.includes(name)))
  }
})
