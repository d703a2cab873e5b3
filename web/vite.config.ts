import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress } from './vite-compress.ts'
import { preloadApp } from './vite-preload.ts'

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
    chunkSizeWarningLimit: 600,
  },
  server: { port: 5173, strictPort: false },
})
