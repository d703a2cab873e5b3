import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './vite-compress.ts'
import { preloadApp } from './vite-preload.ts'

/** Loaded only when somebody opens something: these stay files of their own. */
const late =
  /parts.(MenuParts|WindowedBody|LeaveQuestion|CustomRange)|frame.(Palette|palette-choices|Help|Sheet|SignedOutDialog|TakeOver)/
/** Shared by a few pages, none of them one that people come to first. */
const seldom =
  /parts.(RateShares|QuotaGauge|SaveForm)|frame.Managed|api.(webhooks|webhook-shapes|directory|managed|sso|sign-ins|access-tokens|entry)\.ts/
/** What needs the library of dialogs and tabs. */
const dialogs = /parts.(Dialogs|ConfirmDialog|IssuedToken|RevokeToken|SecretDialog|Tabs)\.tsx/
/**
 * Over a slow line each file costs a round trip, six at a time: what every page needs is a few files, not sixty. A
 * group takes along what its modules import, unless one of a higher priority has it already.
 */
const groups = [
  // Beside the app's code it would bring that along: the first paint would wait for its styles, and a catalogue would
  // come after modules that have read their words already. React itself comes with it.
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

// The page's policy allows nothing inline and no data: addresses, so nothing may be inlined here.
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
