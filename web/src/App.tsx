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
      // Retries only if no response arrived or the status is 502 or above; every other refusal is final.
      retry: (failures, error) =>
        failures < mostRetries &&
        error instanceof Refused &&
        (error.status === 0 || error.status >= 502),
      staleTime: 5000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
    },
    // A request may contain a credential and a response a secret, so both are forgotten once no page uses them.
    mutations: { retry: false, networkMode: 'always', gcTime: 0 },
  },
})
const router = createAppRouter()

// Loads the fonts half a second after all requests have ended, or after 15 seconds in which no request makes progress.
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
