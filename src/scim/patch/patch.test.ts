import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ScimError } from '../protocol/errors.ts'
import { parseJson, type Json } from '../protocol/json.ts'
import { applyPatch } from './patch.ts'
import { readPatch } from './patch-request.ts'
import { readResource, type Resource } from '../schema/resource.ts'
import { userType } from '../schema/schema-group.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

function user(more: Record<string, Json> = {}): Resource {
  return readResource(userType, {
    schemas: [userType.schema.id],
    userName: 'bjensen@example.com',
    name: { givenName: 'Barbara', familyName: 'Jensen' },
    active: true,
    emails: [
      { value: 'work@example.com', type: 'work', primary: true },
      { value: 'home@example.com', type: 'home' },
    ],
    ...more,
  })
}

function patch(resource: Resource, ...operations: Json[]): Resource {
  return applyPatch(userType, resource, readPatch(message(operations))).resource
}

function message(operations: readonly Json[]): Json {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations }
}

function scimType(type: string): (error: unknown) => boolean {
  return (error) => error instanceof ScimError && error.status === 400 && error.scimType === type
}

describe('PATCH add (RFC 7644 section 3.5.2.1)', () => {
  test('sets a single value, merges a complex one, appends to a list', () => {
    const after = patch(
      user(),
      { op: 'add', path: 'title', value: 'Boss' },
      { op: 'add', path: 'name', value: { middleName: 'Q' } },
      { op: 'add', path: 'emails', value: [{ value: 'new@example.com', type: 'other' }] },
    )
    assert.equal(after['title'], 'Boss')
    assert.deepEqual(after['name'], { givenName: 'Barbara', familyName: 'Jensen', middleName: 'Q' })
    assert.equal((after['emails'] as unknown[]).length, 3)
  })

  test('adds nothing twice', () => {
    const before = user()
    const after = patch(before, {
      op: 'add',
      path: 'emails',
      value: [{ value: 'WORK@example.com', type: 'work', primary: true }],
    })
    assert.deepEqual(after, before)
  })

  test('a new primary value takes the mark from the old one', () => {
    const after = patch(user(), {
      op: 'add',
      path: 'emails',
      value: { value: 'new@example.com', primary: true },
    })
    const emails = after['emails'] as { value: string; primary?: boolean }[]
    assert.deepEqual(
      emails.filter((each) => each.primary).map((each) => each.value),
      ['new@example.com'],
    )
  })

  test('without a path takes a set of attributes', () => {
    const after = patch(user(), {
      op: 'add',
      value: {
        nickName: 'Babs',
        emails: [{ value: 'third@example.com' }],
        [enterprise]: { department: 'R' },
      },
    })
    assert.equal(after['nickName'], 'Babs')
    assert.equal((after['emails'] as unknown[]).length, 3)
    assert.deepEqual(after[enterprise], { department: 'R' })
  })
})

describe('PATCH replace (RFC 7644 section 3.5.2.3)', () => {
  test('replaces single values, whole lists and the parts of selected values', () => {
    const after = patch(
      user(),
      { op: 'replace', path: 'userName', value: 'new' },
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'x@example.com' },
      { op: 'replace', path: 'phoneNumbers', value: [{ value: '1' }] },
    )
    assert.equal(after['userName'], 'new')
    assert.deepEqual(after['emails'], [
      { value: 'x@example.com', type: 'work', primary: true },
      { value: 'home@example.com', type: 'home' },
    ])
    assert.deepEqual(after['phoneNumbers'], [{ value: '1' }])
  })

  test('replaces a whole selected value', () => {
    const after = patch(user(), {
      op: 'replace',
      path: 'emails[type eq "home"]',
      value: { value: 'h@example.com', display: 'Home' },
    })
    assert.deepEqual((after['emails'] as unknown[])[1], {
      type: 'home',
      value: 'h@example.com',
      display: 'Home',
    })
  })

  test('answers noTarget when nothing is selected and the value cannot be made', () => {
    for (const path of [
      'emails[type eq "rare"].value',
      'emails[value eq "x"].display',
      'emails[type ne "work" and type ne "home"].value',
    ]) {
      assert.throws(() => patch(user(), { op: 'replace', path, value: 'x' }), scimType('noTarget'))
    }
  })
})

describe('PATCH remove (RFC 7644 section 3.5.2.2)', () => {
  test('removes attributes, parts, selected values and whole extensions', () => {
    const before = user({ title: 'Boss', [enterprise]: { department: 'R' } })
    const after = patch(
      before,
      { op: 'remove', path: 'title' },
      { op: 'remove', path: 'name.givenName' },
      { op: 'remove', path: 'emails[type eq "home"]' },
      { op: 'remove', path: enterprise },
    )
    assert.equal(after['title'], undefined)
    assert.deepEqual(after['name'], { familyName: 'Jensen' })
    assert.equal((after['emails'] as unknown[]).length, 1)
    assert.equal(after[enterprise], undefined)
    assert.equal(before['title'], 'Boss')
  })

  test('needs a path (noTarget) and keeps what is required or read-only (mutability)', () => {
    assert.throws(() => patch(user(), { op: 'remove' }), scimType('noTarget'))
    assert.throws(() => patch(user(), { op: 'remove', path: 'userName' }), scimType('mutability'))
    assert.throws(() => patch(user(), { op: 'remove', path: 'id' }), scimType('mutability'))
    assert.throws(() => patch(user(), { op: 'remove', path: 'schemas' }), scimType('mutability'))
    assert.throws(
      () => patch(user(), { op: 'remove', path: 'emails[type eq "rare"]' }),
      scimType('noTarget'),
    )
  })
})

describe('PATCH as Entra sends it', () => {
  test('Add, Replace and Remove in capitals and "False" as a text', () => {
    const after = patch(
      user(),
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: 'title', value: 'Boss' },
      { op: 'Remove', path: 'nickName' },
    )
    assert.equal(after['active'], false)
    assert.equal(after['title'], 'Boss')
  })

  test('other types for active are refused', () => {
    for (const value of ['perhaps', 1, 0, {}, ['x']]) {
      assert.throws(
        () => patch(user(), { op: 'replace', path: 'active', value }),
        scimType('invalidValue'),
      )
    }
  })

  test('dotted names, URNs and value paths as names of a value without path', () => {
    const after = patch(user(), {
      op: 'Replace',
      value: {
        'name.givenName': 'Babs',
        [`${enterprise}:department`]: 'Sales',
        'emails[type eq "work"].value': 'e@example.com',
        'phoneNumbers[type eq "mobile"].Value': '42',
        unknownAttribute: 'x',
      },
    })
    assert.deepEqual(after['name'], { givenName: 'Babs', familyName: 'Jensen' })
    assert.deepEqual(after[enterprise], { department: 'Sales' })
    assert.deepEqual(after['phoneNumbers'], [{ type: 'mobile', value: '42' }])
  })

  test('bare names of the extension, in a path, without one, and dotted', () => {
    const after = patch(
      user(),
      { op: 'Add', path: 'department', value: 'Sales' },
      { op: 'Replace', path: 'manager', value: 'm1' },
      { op: 'Add', value: { employeeNumber: '7', 'manager.value': 'm2' } },
    )
    assert.deepEqual(after[enterprise], {
      department: 'Sales',
      manager: { value: 'm2' },
      employeeNumber: '7',
    })
    assert.equal(
      patch(
        after,
        { op: 'Remove', path: 'department' },
        { op: 'Remove', path: 'manager' },
        { op: 'Remove', path: 'employeeNumber' },
      )[enterprise],
      undefined,
    )
  })

  test('an extension that nobody knows fails nothing of what comes with it', () => {
    const after = patch(
      user(),
      { op: 'Add', path: 'urn:example:ext:2.0:User:tag', value: 'x' },
      { op: 'Replace', path: 'urn:example:ext:2.0:User', value: { tag: 'x' } },
      { op: 'Add', value: { 'urn:example:ext:2.0:User': { tag: 'x' }, title: 'Boss' } },
      { op: 'Remove', path: 'urn:example:ext:2.0:User:tag' },
    )
    assert.deepEqual(after, { ...user(), title: 'Boss' })
  })

  test("old Entra's active in a list is understood", () => {
    const value = [{ $ref: null, value: 'False' }]
    assert.equal(patch(user(), { op: 'Replace', path: 'active', value })['active'], false)
  })

  test('makes the value that a filter on a common type or on primary describes', () => {
    const after = patch(
      user(),
      { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' },
      { op: 'Replace', path: 'phoneNumbers[type eq "fax"].value', value: '2' },
      { op: 'Add', path: 'roles[primary eq "True"].value', value: 'admin' },
      { op: 'Add', path: 'addresses[type eq "work"].country', value: 'DK' },
    )
    assert.deepEqual(after['phoneNumbers'], [
      { type: 'work', value: '1' },
      { type: 'fax', value: '2' },
    ])
    assert.deepEqual(after['roles'], [{ primary: true, value: 'admin' }])
    assert.deepEqual(after['addresses'], [{ type: 'work', country: 'DK' }])
  })

  test('a manager bare, in a list, empty', () => {
    const path = `${enterprise}:manager`
    for (const value of ['m1', ['m1'], [{ value: 'm1' }], { Value: 'm1' }] as Json[]) {
      const after = patch(user(), { op: 'Add', path, value })
      assert.deepEqual(after[enterprise], { manager: { value: 'm1' } })
      for (const empty of ['', [], { value: '' }, null] as Json[]) {
        assert.equal(patch(after, { op: 'Replace', path, value: empty })[enterprise], undefined)
      }
    }
    const after = patch(user(), { op: 'Add', path: `${path}.value`, value: 'm2' })
    assert.deepEqual(after[enterprise], { manager: { value: 'm2' } })
    assert.equal(patch(after, { op: 'Remove', path })[enterprise], undefined)
  })
})

describe('hostile PATCH', () => {
  test('one wrong operation and nothing has changed', () => {
    const before = user()
    const copy = structuredClone(before)
    assert.throws(() =>
      patch(
        before,
        { op: 'replace', path: 'title', value: 'x' },
        { op: 'replace', path: 'nope', value: 1 },
      ),
    )
    assert.deepEqual(before, copy)
  })

  test('prototype names in paths and in names are refused or have no effect', () => {
    for (const path of [
      '__proto__',
      'constructor.prototype',
      '__proto__.polluted',
      'name.__proto__',
      'emails[__proto__ eq "x"].value',
      'emails[type eq "work"].constructor',
      `${enterprise}:__proto__`,
    ]) {
      assert.throws(() => patch(user(), { op: 'add', path, value: { polluted: true } }), ScimError)
    }
    assert.throws(() => parseJson('{"value":{"__proto__":{"polluted":true}}}'), ScimError)
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })

  test('wrong operations are refused with the keyword of the RFC', () => {
    const cases: [Json, string][] = [
      [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
      [{ path: 'title', value: 'x' }, 'invalidSyntax'],
      ['x', 'invalidSyntax'],
      [{ op: 'add', path: 7, value: 'x' }, 'invalidPath'],
      [{ op: 'add', path: 'title' }, 'invalidValue'],
      [{ op: 'add', path: 'title[', value: 'x' }, 'invalidPath'],
      [{ op: 'add', path: 'title.x', value: 'x' }, 'invalidPath'],
      [{ op: 'add', path: 'emails[type eq', value: 'x' }, 'invalidPath'],
      [{ op: 'add', path: 'emails[type].value', value: 'x' }, 'invalidFilter'],
      [{ op: 'add', path: 'userName[type eq "x"]', value: 'x' }, 'invalidPath'],
      [{ op: 'add', path: `${enterprise}:x`, value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'userName', value: ['a'] }, 'invalidValue'],
      [{ op: 'add', path: 'title', value: 7 }, 'invalidValue'],
      [{ op: 'add', path: 'title', value: {} }, 'invalidValue'],
      [{ op: 'add', path: 'title', value: ['a', 'b'] }, 'invalidValue'],
      [{ op: 'add', path: 'emails', value: 'x' }, 'invalidValue'],
      [{ op: 'add', path: 'emails', value: [{ value: 7 }] }, 'invalidValue'],
      [{ op: 'add', path: 'name', value: 'x' }, 'invalidValue'],
      [{ op: 'add', value: 'x' }, 'invalidValue'],
      [{ op: 'replace', path: 'userName', value: ' ' }, 'invalidValue'],
      [{ op: 'replace', path: 'userName', value: 'a\u0007' }, 'invalidValue'],
      [{ op: 'replace', path: 'groups', value: [{ value: 'x' }] }, 'mutability'],
      [{ op: 'replace', path: 'meta.created', value: '2011-05-13T04:42:34Z' }, 'mutability'],
    ]
    for (const [operation, type] of cases) {
      assert.throws(() => patch(user(), operation), scimType(type), JSON.stringify(operation))
    }
  })

  test('whatever the operations, the answer is a resource or a SCIM error', () => {
    const paths = fc.constantFrom(
      'title',
      'emails',
      'emails[type eq "work"]',
      'emails.value',
      'name.givenName',
      enterprise,
      `${enterprise}:manager`,
      'active',
      'x',
    )
    const operation = fc.record({
      op: fc.constantFrom('add', 'replace', 'remove'),
      path: fc.option(paths, { nil: null }),
      value: fc.jsonValue({ maxDepth: 3 }),
    })
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 4 }), (operations) => {
        try {
          patch(user(), ...(operations as Json[]))
        } catch (error) {
          if (!(error instanceof ScimError)) throw error
        }
      }),
      { numRuns: 3000 },
    )
  })
})
