import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Managed =
  Answer<'GET /organizations/:organization/configuration/managed'>['items'][number]
export type ManagedSection = Managed['section']

const freshMs = 30_000
/** Few organizations have more managed things than this, so one request usually returns all of them. */
const asMany = 200
const idsInQuestion = 100
const route = 'GET /organizations/:organization/configuration/managed'

function managedQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'managed'],
    staleTime: freshMs,
    queryFn: ({ signal }) =>
      call(route, { path: { organization }, query: { limit: asMany } }, { signal }),
  })
}

function managedAmongQuery(organization: string, section: ManagedSection, ids: readonly string[]) {
  return queryOptions({
    queryKey: [organization, 'managed', section, ids],
    staleTime: freshMs,
    queryFn: ({ signal }) => {
      const query = { section, ids: ids.join(','), limit: asMany }
      return call(route, { path: { organization }, query }, { signal })
    },
  })
}

/**
 * Returns managed things of the section by id, at least those among `ids`. While loading, some are missing, which is
 * harmless: the server refuses changes to locked things anyway.
 */
export function useManagedAmong(
  organization: string,
  section: ManagedSection,
  ids: readonly string[],
): ReadonlyMap<string, Managed> {
  const first = useQuery(managedQuery(organization)).data
  const hasMore = first?.next !== undefined
  const more = useQueries({
    queries: hasMore
      ? inParts(ids).map((part) => managedAmongQuery(organization, section, part))
      : [],
    combine: (answers) => answers.flatMap(({ data }) => data?.items ?? []),
  })
  const known = hasMore ? more : (first?.items ?? [])
  return new Map(
    known.flatMap((thing) =>
      thing.section === section && thing.subject_id !== undefined
        ? [[thing.subject_id, thing] as const]
        : [],
    ),
  )
}

/** Unlocks a managed thing for people, until its file is next applied. */
export async function takeOver(
  organization: string,
  thing: { readonly section: ManagedSection; readonly id: string },
): Promise<void> {
  await call('POST /organizations/:organization/configuration/take-over', {
    path: { organization },
    body: thing,
  })
}

function inParts(ids: readonly string[]): readonly (readonly string[])[] {
  const parts = Math.ceil(ids.length / idsInQuestion)
  return Array.from({ length: parts }, (_, index) =>
    ids.slice(index * idsInQuestion, (index + 1) * idsInQuestion),
  )
}
