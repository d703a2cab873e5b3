import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Refused } from './api/call.ts'
import { Toasts } from './parts/Toasts.tsx'
import { createAppRouter } from './router.tsx'

const mostRetries = 2

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is an answer: only a missing answer is worth asking again.
      retry: (failures, error) =>
        failures < mostRetries &&
        error instanceof Refused &&
        (error.status === 0 || error.status >= 502),
      staleTime: 5000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})
const router = createAppRouter()

/** The whole dashboard. */
export function App() {
  return (
    <QueryClientProvider client={client}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  )
}
