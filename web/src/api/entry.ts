import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => call('GET /sign-in-options', {}, { signal, quiet: true }),
})

export const sessionsQuery = queryOptions({
  queryKey: ['me', 'sessions'],
  queryFn: ({ signal }) => call('GET /me/sessions', {}, { signal }),
})
