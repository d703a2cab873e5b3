import type { KeyId, OrganizationId } from '../../../ids.ts'
import { besideIds } from '../../db/beside-ids.ts'
import type { Db } from '../../db/db.ts'
import * as keySecrets from './key-secrets.ts'

/** Maps keys' ids to their names and the hints of their current secrets; unknown ids are left out. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  ids: readonly KeyId[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly hint: string }>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query
    .selectFrom('api_key')
    .select(['id', 'name'])
    .where(besideIds(db, organizationId))
    .where('id', 'in', ids)
    .execute()
  const secrets = await keySecrets.list(db, organizationId, ids)
  return new Map(
    rows.map(({ id, name }) => [id, { name, hint: secrets.get(id as KeyId)?.[0]?.hint ?? '' }]),
  )
}
