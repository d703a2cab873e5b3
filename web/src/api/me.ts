import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Me = Answer<'GET /me'>

/** Who is signed in here; `quiet`, because the frame itself goes to the sign-in page. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('GET /me', {}, { signal, quiet: true }),
  staleTime: 30_000,
})

/** Who is signed in here. */
export function useMe() {
  return useQuery(meQuery)
}

/** Ends this browser's session; where to go to end the one at the identity provider, if that is asked for. */
export async function endSession(): Promise<string | undefined> {
  return (await call('POST /auth/logout', {}))?.provider_logout_url
}
