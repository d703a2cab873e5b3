import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { call, type Answer, type Input, type Route } from './call.ts'

/** Routes that return one page of a list and the cursor of the next. */
type ListRoute = {
  [R in Route]: Answer<R> extends { readonly next: string | undefined } ? R : never
}[Route]

/** A list loaded page by page. After a change of its filter, the previous rows stay visible until new ones arrive. */
export function listQuery<R extends ListRoute>(
  queryKey: readonly unknown[],
  route: R,
  { path, query = {} }: { readonly path: Record<string, string>; readonly query?: object },
) {
  return infiniteQueryOptions({
    queryKey: [...queryKey, query],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) => {
      const page = pageParam === '' ? query : { ...query, after: pageParam }
      return call(route, { path, query: page } as unknown as Input<R>, { signal })
    },
    getNextPageParam: (last: Answer<R>) => (last as { next: string | undefined }).next,
  })
}
