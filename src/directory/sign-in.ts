import type { OrganizationId } from '../ids.ts'
import { directoryTokens, directoryUsers } from '../store/index.ts'
import type { DirectoryPeople } from '../sso/index.ts'

/**
 * Creates the view of the directory that sign-in through a connection needs; a directory is on while one of its tokens
 * is active.
 */
export function createSignInLookup(): DirectoryPeople {
  return {
    async isOn(at, organizationId) {
      return await directoryTokens.isAnyActive(at, organizationId as OrganizationId)
    },
    async find(at, organizationId, by) {
      const wanted =
        by.attribute === 'externalId'
          ? { externalId: by.value }
          : { userNameKey: by.value.normalize('NFC').toLowerCase() }
      const found = await directoryUsers.listByIdentifier(
        at,
        organizationId as OrganizationId,
        wanted,
      )
      // An identifier that two users share is ambiguous: treat it as no match.
      const [only, ...more] = found
      return only === undefined || more.length > 0
        ? undefined
        : { userId: only.userId, active: only.active }
    },
  }
}
