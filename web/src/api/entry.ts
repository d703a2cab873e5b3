import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** The ways to sign in that are set up here. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => call('GET /sign-in-options', {}, { signal, quiet: true }),
})

/** The own living sessions. */
export const sessionsQuery = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: ({ signal }) => call('GET /me/sessions', {}, { signal }),
})
