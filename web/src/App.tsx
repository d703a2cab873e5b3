import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { Refused } from './api/call.ts'
import { showFonts } from './parts/late-fonts.ts'
import { Toasts } from './parts/Toasts.tsx'
import { createAppRouter } from './router.tsx'

const mostRetries = 2

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal is final: only a missing response, or a 502 and above, is worth retrying.
      retry: (failures, error) =>
        failures < mostRetries &&
        error instanceof Refused &&
        (error.status === 0 || error.status >= 502),
      staleTime: 5000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    // An answer may hold a secret and a request a credential: neither stays in memory once its page has let go of it.
    mutations: { retry: false, networkMode: 'always', gcTime: 0 },
  },
})
const router = createAppRouter()

// The fonts load once no request has been running for half a second, or after 15 seconds without any request.
const quietMs = 500
const fontsAtLastMs = 15_000
let quiet = setTimeout(showFontsOnce, fontsAtLastMs)
const stop = client.getQueryCache().subscribe(() => {
  clearTimeout(quiet)
  quiet = setTimeout(showFontsOnce, client.isFetching() === 0 ? quietMs : fontsAtLastMs)
})

function showFontsOnce(): void {
  stop()
  void showFonts().catch(() => undefined)
}

export function App() {
  return (
    <QueryClientProvider client={client}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  )
}
