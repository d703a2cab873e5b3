import { Problem } from '../../../errors.ts'
import type { KeyId } from '../../../ids.ts'
import { Type } from '../../../http/index.ts'
import { timeOfId } from '../../../ids.ts'
import { calls, callSearch } from '../../../store/index.ts'
import { callFilterProperties, text, toCallFilter } from './filter.ts'
import { Rollup, TopItem, toRollup } from './rollup-schema.ts'
import { ApiCall, namesFor, toApiCall } from './call-schema.ts'
import { uncompressed } from '../../core/compress.ts'
import { route } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../../core/paging.ts'
import { checkRange, momentOf } from '../../core/moments.ts'
import { Time, time } from '../../core/schemas.ts'
import { dayMs, minuteMs } from '../../../units.ts'

/** Recorded calls and their statistics. */
export const callRoutes = {
  'GET /organizations/:organization/calls': route({
    summary: 'Calls, newest first; `newer` returns those after a given call',
    permission: 'traffic.see',
    query: Type.Object({ ...pageQuery, newer: text(60), ...callFilterProperties }),
    answer: Type.Object({
      ...pageOf(ApiCall).properties,
      /** The time back to which calls were examined, if the search ended early; `next` continues there. */
      searched_back_to: Type.Optional(Time),
    }),
    handle: async ({ organization, query }, services) => {
      const page = {
        ...(await toCallFilter(organization, query, services)),
        before: idCursor('req', query.after),
        after: idCursor('req', query.newer),
        limit: limitOf(query) + 1,
        hasTime: timeFrom(services.clock),
      }
      const { slowCallReads } = services.store
      const { calls: found, searchedTo } = await callSearch.search(
        slowCallReads,
        organization.id,
        page,
      )
      const names = await namesFor(organization, found, services)
      const shown = toPageById(query, found, (call) => toApiCall(call, names))
      const back =
        searchedTo === undefined
          ? {}
          : { next: searchedTo, searched_back_to: time(timeOfId(searchedTo)) }
      const body = { ...shown, ...back }
      return found.some(({ capture }) => capture !== undefined) ? uncompressed(body) : body
    },
  }),

  'GET /organizations/:organization/calls/:call': route({
    summary: 'A recorded call with its timings and captured data',
    permission: 'traffic.see',
    answer: ApiCall,
    handle: async ({ organization, param }, services) => {
      const call = await calls.find(services.store.calls, organization.id, param('call'))
      if (!call)
        throw new Problem('not_found', 'There is no such call, or it is not kept any more.')
      return uncompressed(toApiCall(call, await namesFor(organization, [call], services)))
    },
  }),

  'GET /organizations/:organization/calls/top': route({
    summary:
      'The keys and targets with the most calls, and the most frequent codes of refusals and upstream errors',
    permission: 'traffic.see',
    query: Type.Object({
      ...callFilterProperties,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    }),
    answer: Type.Object(
      {
        keys: Type.Array(TopItem),
        targets: Type.Array(TopItem),
        codes: Type.Array(TopItem),
        /** Set if there were too many calls to examine: only calls since this time are counted. */
        searched_back_to: Type.Optional(Time),
      },
      { title: 'TopOfCalls' },
    ),
    handle: async ({ organization, query }, services) => {
      const { limit = topItems, ...narrowed } = query
      const from = narrowed.from ?? time(services.clock.now() - dayMs)
      const filter = await toCallFilter(organization, { ...narrowed, from }, services)
      const found = await services.traffic.top(organization.id, filter, limit)
      const slugs = await services.targets.slugs(organization.id)
      const ids = found.keys.map(({ id }) => id as KeyId)
      const names = await services.keys.names(organization.id, ids)
      const item = (row: (typeof found.keys)[number], name: string | undefined) => ({
        id: row.id,
        name: name ?? null,
        calls: row.calls,
        refused: row.refused,
        errors: row.errors,
      })
      return {
        keys: found.keys.map((row) => item(row, names.get(row.id)?.name)),
        targets: found.targets.map((row) => item(row, slugs.get(row.id))),
        codes: found.codes.map((row) => item(row, undefined)),
        ...(found.searchedBackTo === undefined
          ? {}
          : { searched_back_to: time(found.searchedBackTo) }),
      }
    },
  }),

  'GET /organizations/:organization/rollups': route({
    summary: 'Calls per time step by outcome and latency, and the checks that refused calls',
    permission: 'traffic.see',
    query: Type.Object({
      ...callFilterProperties,
      /** Defaults to one hour before `to`; rounded down to the minute. */
      from: Type.Optional(Time),
      /** Defaults to now. */
      to: Type.Optional(Time),
      /** Defaults to one minute. */
      step_ms: Type.Optional(Type.Integer({ minimum: minuteMs, maximum: 31 * dayMs })),
      /** Whether to return the upstream's part of the duration and our own part separately. */
      parts: Type.Optional(Type.Boolean()),
    }),
    answer: Rollup,
    handle: async ({ organization, query }, services) => {
      const { step_ms: stepMs = minuteMs, parts, ...narrowed } = query
      const to = query.to === undefined ? services.clock.now() : momentOf(query.to)
      const asked = query.from === undefined ? to - 60 * minuteMs : momentOf(query.from)
      const from = Math.floor(asked / minuteMs) * minuteMs
      checkRange({ from, to, stepMs }, maxPoints)
      const filter = await toCallFilter(organization, narrowed, services)
      const fields = { ...filter, from, to, stepMs, parts }
      return toRollup(await services.traffic.rollup(organization.id, fields), stepMs)
    },
  }),
}

/** Returns a function that says whether a search has time left. */
function timeFrom(clock: Services['clock']): () => boolean {
  const endsAt = clock.monotonic() + searchMs
  return () => clock.monotonic() < endsAt
}

const searchMs = 150
const maxPoints = 2000
const topItems = 5
