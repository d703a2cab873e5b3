import { everyOf } from '../../api/choices.ts'
import type { GroupRole } from '../../api/directory.ts'

/** The roles that a group can grant; owner is not one of them. */
export const groupRoles = everyOf<GroupRole>({ admin: true, developer: true, viewer: true })
