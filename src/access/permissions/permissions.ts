/** The roles of a membership, the mightiest first. */
export const roles = ['owner', 'admin', 'developer', 'viewer'] as const

export type Role = (typeof roles)[number]

/**
 * What a person may do, by role: the one table. `keys.issue` reaches a developer's own keys only, `keys.manage`
 * everybody's.
 */
export const permissions = {
  'traffic.see': ['owner', 'admin', 'developer', 'viewer'],
  'keys.issue': ['owner', 'admin', 'developer'],
  'keys.manage': ['owner', 'admin'],
  'deliveries.replay': ['owner', 'admin', 'developer'],
  'targets.manage': ['owner', 'admin'],
  'webhooks.manage': ['owner', 'admin'],
  'members.manage': ['owner', 'admin'],
  'audit.see': ['owner', 'admin'],
  'organization.manage': ['owner', 'admin'],
  'tokens.manage': ['owner', 'admin'],
  'sso.manage': ['owner', 'admin'],
  'owners.manage': ['owner'],
  'organization.delete': ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof permissions

/** Whether a role includes a permission. */
export function may(role: Role, permission: Permission): boolean {
  const allowed: readonly Role[] = permissions[permission]
  return allowed.includes(role)
}

/** All that a role includes. */
export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((permission) => may(role, permission))
}

/** Whether a text names a role. */
export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text)
}
