import type { DirectoryUser } from '../directory/index.ts'
import type { DirectoryGroupRecord } from '../store/index.ts'
import { schemasOf, type Resource } from './schema/resource.ts'
import { groupType, userType } from './schema/schema-group.ts'

/** The fields common to all stored resources. */
export interface Versioned {
  readonly id: string
  readonly attributes: string
  readonly version: number
  readonly createdAt: number
  readonly modifiedAt: number
}

/** Returns the weak entity tag of a resource (RFC 7644 section 3.14). */
export function etagOf(record: Versioned): string {
  return `W/"${record.version}"`
}

export function resourceOf(record: Versioned): Resource {
  // The attributes were checked against the schema before they were stored.
  return { ...(JSON.parse(record.attributes) as Resource), id: record.id }
}

/** Builds a user in SCIM's format; `base` is the URL of `/scim/v2`. */
export function userDocument(user: DirectoryUser, base: string): Record<string, unknown> {
  const resource = resourceOf(user)
  const groups = user.groups.map((group) => ({
    value: group.groupId,
    $ref: `${base}/Groups/${group.groupId}`,
    display: (JSON.parse(group.attributes) as { displayName: string }).displayName,
    type: 'direct',
  }))
  return {
    ...resource,
    // The attributes of a user may lack `active` if an older version stored them.
    active: user.active,
    schemas: schemasOf(userType, resource),
    ...(groups.length === 0 ? {} : { groups }),
    meta: metaOf(user, 'User', `${base}/Users/${user.id}`),
  }
}

/** Builds a group in SCIM's format, without `members` if there are none or if they were not loaded. */
export function groupDocument(
  group: DirectoryGroupRecord,
  members: readonly string[] | undefined,
  base: string,
): Record<string, unknown> {
  const resource = resourceOf(group)
  return {
    ...resource,
    schemas: schemasOf(groupType, resource),
    ...(members === undefined || members.length === 0
      ? {}
      : {
          members: memberDocuments(members, base),
        }),
    meta: metaOf(group, 'Group', `${base}/Groups/${group.id}`),
  }
}

export function memberDocuments(ids: readonly string[], base: string): Record<string, unknown>[] {
  return ids.map((id) => ({ value: id, $ref: `${base}/Users/${id}`, type: 'User' }))
}

function metaOf(record: Versioned, resourceType: string, location: string) {
  return {
    resourceType,
    created: new Date(record.createdAt).toISOString(),
    lastModified: new Date(record.modifiedAt).toISOString(),
    location,
    version: etagOf(record),
  }
}
