/** The roles that a group can give; owner is not among them. */
export const groupRoles = ['admin', 'developer', 'viewer'] as const
