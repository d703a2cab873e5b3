import { Keys } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import type { OrganizationId } from '../../ids.ts'
import { callSearch, targets as targetTable, type CallFilter } from '../../store/index.ts'
import { gatewayPrefix, type CallList, type CallQuery } from './call-query.ts'
import type { Services } from './services.ts'

/** Opens the list of an organization's calls in the database. Throws `not_found` for an unknown target. */
export async function openCallList(
  services: Services,
  organizationId: OrganizationId,
  query: CallQuery,
): Promise<CallList> {
  const { store } = services
  const slugs = await targetTable.slugs(store, organizationId)
  const filter = toFilter(query, slugs)
  const keys = new Keys(services)
  return async (page) => {
    const from = page.from ?? filter.from
    const found = await callSearch.searchOn(store.slowCallReads, organizationId, {
      ...filter,
      ...page,
      from,
    })
    const names = await keys.names(organizationId, [...new Set(found.map(({ keyId }) => keyId))])
    return found.map((call) => ({
      call,
      target: call.targetId === undefined ? undefined : slugs.get(call.targetId),
      key: names.get(call.keyId)?.name,
    }))
  }
}

function toFilter(query: CallQuery, slugs: ReadonlyMap<string, string>): CallFilter {
  const { target, key, status, stoppedAt, method, path, address, from } = query
  const targetId =
    target === undefined ? undefined : [...slugs].find(([, slug]) => slug === target)?.[0]
  if (target !== undefined && targetId === undefined) {
    throw new Problem('not_found', `There is no target ${target} in this organization.`)
  }
  return {
    ...{ targetId, keyId: key, address, stoppedAt, from, method: method?.toUpperCase() },
    statuses: status === undefined ? undefined : statusesOf(status),
    path: path === undefined ? undefined : `${gatewayPrefix}/${target}${path}`,
  }
}

function statusesOf(status: string): readonly [number, number] {
  if (!status.endsWith('xx')) return [Number(status), Number(status) + 1]
  const least = Number(status.charAt(0)) * 100
  return [least, least + 100]
}
