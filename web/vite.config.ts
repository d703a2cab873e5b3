import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './vite-compress.ts'
import { preloadApp } from './vite-preload.ts'

/** Modules loaded only when needed, for instance when somebody opens a menu; the group `app` leaves them out. */
const late =
  /parts.(MenuParts|WindowedBody|LeaveQuestion|CustomRange)|frame.(Palette|palette-choices|Help|Sheet|SignedOutDialog|TakeOver)/
/** Modules shared by a few pages that people rarely visit first. */
const seldom =
  /parts.(RateShares|QuotaGauge|SaveForm)|frame.Managed|api.(webhooks|webhook-shapes|directory|managed|sso|sign-ins|access-tokens|entry)\.ts/
/** Modules that need the library for dialogs and tabs. */
const dialogs = /parts.(Dialogs|ConfirmDialog|IssuedToken|RevokeToken|SecretDialog|Tabs)\.tsx/
/**
 * Bundles what every page needs into a few files instead of sixty. A browser requests only six files at a time, and on
 * a slow connection each request costs a round trip. A group also contains what its modules import, unless a group of
 * higher priority contains it.
 */
const groups = [
  // This group must not share a file with the app's code. Otherwise the first paint would wait for the app's styles,
  // and modules would read their words before the catalogue is loaded.
  {
    name: 'main',
    test: /web.(src.main\.tsx|words.(language|locale|plural)\.ts)/,
    priority: 4,
  },
  {
    name: 'router',
    test: /node_modules.(react|react-dom|scheduler|@tanstack.(?!.*virtual).*)[\\/]/,
    priority: 3,
  },
  {
    name: 'app',
    test: (id: string) =>
      /web.(src.(api|frame|parts)|words.(en.operations|[a-z]+)\.ts)/.test(id) &&
      !late.test(id) &&
      !seldom.test(id) &&
      !dialogs.test(id),
    minShareCount: 2,
    priority: 2,
  },
  { name: 'dialogs', test: dialogs, priority: 1 },
  {
    name: 'traffic',
    test: /pages.(calls.(Figures|CallsTable|status)|keys.KeyPicker)/,
    minShareCount: 2,
    priority: 1,
  },
]

// The content security policy allows neither inline scripts nor data: URLs, so nothing may be inlined.
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [react(), preloadApp(), compress()],
  css: { modules: { localsConvention: 'camelCaseOnly' as const } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ['chrome123', 'firefox121', 'safari17.5'],
    reportCompressedSize: false,
    rolldownOptions: {
      output: { codeSplitting: { groups } },
    },
    chunkSizeWarningLimit: 600,
  },
  server: { port: 5173, strictPort: false },
})
