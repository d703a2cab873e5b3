import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Me = Answer<'GET /me'>

/** The request is `quiet`, because the frame itself redirects to the sign-in page after a 401. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('GET /me', {}, { signal, quiet: true }),
  staleTime: 30_000,
})

export function useMe() {
  return useQuery(meQuery)
}

/** Ends this browser's session. Returns the URL that also ends the session at the identity provider, or undefined. */
export async function endSession(): Promise<string | undefined> {
  return (await call('POST /auth/logout', {}))?.provider_logout_url
}
