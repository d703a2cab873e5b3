import type { Plugin } from 'vite'

const app = '/src/App.tsx'

/** The dashboard's code is asked for beside the few lines that choose its language, not after them. */
export function preloadApp(): Plugin {
  return {
    name: 'preload-app',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk')
        const entry = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(app) === true)
        const wanted = entry === undefined ? [] : [entry.fileName, ...entry.imports]
        return wanted
          .filter((name) => !html.includes(name))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
            injectTo: 'head' as const,
          }))
      },
    },
  }
}
