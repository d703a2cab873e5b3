import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ignoredNames } from './ignored.ts'
import type { Json } from './protocol/json.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

function ignored(method: string, path: string, body: Json): string[] {
  return ignoredNames({ method, path: path.split('/').slice(1), body })
}

describe('what a request says that the schemas have no place for', () => {
  test('names attributes, parts and extensions of POST and PUT, and nothing that is known or empty', () => {
    const body = {
      schemas: ['x'],
      id: '1',
      meta: { resourceType: 'User', more: 1 },
      groups: [{ value: 'g', more: 1 }],
      userName: 'a',
      password: 'x',
      shoeSize: 7,
      hatSize: null,
      gloveSize: [],
      name: { givenName: 'A', nickname: 'B' },
      'name.givenName': 'A',
      emails: [
        { value: 'a@b.c', verified: true },
        { value: 'd@e.f', verified: true },
      ],
      department: 'R',
      [enterprise]: { costCenter: '1', floor: '2', manager: { value: 'm', mail: 'x' } },
      [`${enterprise}:division`]: 'D',
      'urn:example:ext:User': { tag: 'x' },
      'urn:example:none:User': {},
      'urn:ietf:params:scim:schemas:core:2.0:User': { title: 'T', rank: 1 },
    }
    for (const method of ['POST', 'PUT']) {
      assert.deepEqual(ignored(method, '/Users', body), [
        'password',
        'shoeSize',
        'name.nickname',
        'name.givenName',
        'emails.verified',
        `${enterprise}.floor`,
        'manager.mail',
        'urn:example:ext:User',
        'rank',
      ])
    }
  })

  test('names what PATCH and Bulk pass over', () => {
    const Operations = [
      { op: 'Add', path: 'urn:example:ext:User:tag', value: 'x' },
      { op: 'Add', path: 'name', value: { nickname: 'x' } },
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'x' },
      { op: 'Add', value: { 'name.givenName': 'x', password: 'x', 'urn:example:b': { c: 1 } } },
    ]
    const names = ['urn:example:ext:User:tag', 'name.nickname', 'password', 'urn:example:b']
    assert.deepEqual(ignored('PATCH', '/Users/1', { Operations }), names)
    const bulk = {
      Operations: [
        { method: 'patch', path: '/Users/1', data: { Operations } },
        { method: 'POST', path: '/Groups', data: { displayName: 'G', colour: 'red' } },
        { method: 'DELETE', path: '/Users/1' },
      ],
    }
    assert.deepEqual(ignored('POST', '/Bulk', bulk), [...names, 'colour'])
  })

  test('members of a group with their names are nothing special; queries and other bodies say nothing', () => {
    const members = [{ value: '1', display: 'A' }]
    assert.deepEqual(ignored('PUT', '/Groups/1', { displayName: 'G', members }), [])
    assert.deepEqual(ignored('POST', '/Users/.search', { filter: 'x' }), [])
    assert.deepEqual(ignored('POST', '/Users', ['x']), [])
  })

  test('at most twenty names, each cut', () => {
    const body = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`${'x'.repeat(400)}${at}`, 1]),
    )
    const short = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x${at}`, 1]))
    assert.equal(ignored('POST', '/Users', short).length, 20)
    assert.deepEqual(ignored('POST', '/Users', body), ['x'.repeat(200)])
  })
})
