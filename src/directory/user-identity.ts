import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { directoryUsers, type DirectoryUserRecord, type Tx } from '../store/index.ts'
import type { DirectoryChange } from './change.ts'
import type { DirectoryUserInput } from './people.ts'

/**
 * Whether a new user is the same person as an inactive one: only the external id proves it, because names get reused.
 */
export function isProven(same: DirectoryUserRecord, input: DirectoryUserInput): boolean {
  return same.externalId !== undefined && same.externalId === input.data.externalId
}

/**
 * Finds the inactive user whose record a newly created user takes over, by external id or else by name; undefined if
 * there is none. Throws `conflict` if the name or external id belongs to an active user or to two different users, if
 * the names match but the external ids differ, or if the new user is inactive too.
 */
export async function findSame(
  { tx, organizationId }: DirectoryChange,
  input: DirectoryUserInput,
): Promise<DirectoryUserRecord | undefined> {
  const { userNameKey, externalId, active } = input.data
  const byName = await directoryUsers.findByName(tx, organizationId, userNameKey)
  const byExternalId = await listByExternalId(tx, organizationId, externalId)
  const [known] = byExternalId
  if (known !== undefined) {
    // Users stored before external ids had to be unique may share one: refuse rather than guess which of them is meant.
    if (byExternalId.length > 1 || known.active || !active) throw taken('externalId')
    if (byName !== undefined && byName.id !== known.id) throw taken('userName')
    return known
  }
  if (byName === undefined) return undefined
  const isOther = byName.externalId !== undefined && externalId !== undefined
  if (byName.active || !active || isOther) throw taken('userName')
  return byName
}

/**
 * Refuses an external id that another user has. Otherwise forgets the deleted user who had this external id, if any, so
 * that the id can't restore that person later.
 */
export async function claimExternalId(
  tx: Tx,
  current: DirectoryUserRecord,
  externalId: string | undefined,
): Promise<void> {
  if (externalId === undefined || externalId === current.externalId) return
  const others = await listByExternalId(tx, current.organizationId, externalId)
  if (others.length > 0) throw taken('externalId')
  await directoryUsers.takeDeparted(tx, current.organizationId, externalId)
}

async function listByExternalId(
  tx: Tx,
  organizationId: OrganizationId,
  externalId: string | undefined,
): Promise<DirectoryUserRecord[]> {
  if (externalId === undefined) return []
  return await directoryUsers.listByIdentifier(tx, organizationId, { externalId })
}

export function taken(identifier: 'userName' | 'externalId' | 'userName or externalId'): Problem {
  return new Problem('conflict', `There is a user with this ${identifier} already.`)
}
