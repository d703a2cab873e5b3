import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isRole, may, permissions, roles, type Permission, type Role } from './permissions.ts'

// The table of roles, written a second time and independently of the code: o owner, a admin, d developer, v viewer.
const promised: Record<Permission, string> = {
  'traffic.see': 'oadv',
  'keys.issue': 'oad',
  'keys.manage': 'oa',
  'deliveries.replay': 'oad',
  'targets.manage': 'oa',
  'webhooks.manage': 'oa',
  'members.manage': 'oa',
  'audit.see': 'oa',
  'organization.manage': 'oa',
  'tokens.manage': 'oa',
  'sso.manage': 'oa',
  'owners.manage': 'o',
  'organization.delete': 'o',
}

describe('the table of roles and permissions, cell by cell', () => {
  for (const permission of Object.keys(permissions) as Permission[]) {
    for (const role of roles) {
      const expected = promised[permission].includes(role.charAt(0))
      test(`${role} ${expected ? 'may' : 'may not'} ${permission}`, () => {
        assert.equal(may(role, permission), expected)
      })
    }
  }

  test('a role that nobody defined is no role', () => {
    for (const text of ['Owner', 'root', '', 'owner ', 'constructor', '__proto__']) {
      assert.equal(isRole(text), false)
      assert.equal(may(text as Role, 'traffic.see'), false)
    }
  })
})
