/** The roles of a membership, the most powerful first. */
export const roles = ['owner', 'admin', 'developer', 'viewer'] as const

export type Role = (typeof roles)[number]

/** With `keys.issue` alone, a developer manages only their own keys; `keys.manage` covers everybody's. */
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

export function may(role: Role, permission: Permission): boolean {
  const allowed: readonly Role[] = permissions[permission]
  return allowed.includes(role)
}

export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter((permission) => may(role, permission))
}

export function isRole(text: string): text is Role {
  return (roles as readonly string[]).includes(text)
}
