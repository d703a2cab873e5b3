import { join } from 'node:path'
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'

type Chunk = Rolldown.OutputChunk

const app = '/src/App.tsx'
/** The pages whose code is asked for with the first bytes, by the part of their address behind the organization. */
const pages: Readonly<Record<string, string>> = {
  '': 'overview/Overview.tsx',
  calls: 'calls/Calls.tsx',
  keys: 'keys/Keys.tsx',
  targets: 'targets/Targets.tsx',
  webhooks: 'webhooks/Endpoints.tsx',
  members: 'members/Members.tsx',
  sso: 'sso/Sso.tsx',
  audit: 'audit/Audit.tsx',
  settings: 'settings/Settings.tsx',
}

/** The dashboard's code is asked for beside the few lines that choose its language, not after them; start.js asks for the page's. */
export function preloadApp(): Plugin {
  return {
    name: 'preload-app',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one): one is Chunk => one.type === 'chunk')
        const chunkOf = (module: string) =>
          chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module) === true)
        const first = filesOf(chunkOf(app), chunks).filter((name) => !html.includes(name))
        const known = new Set(first)
        const files = Object.entries(pages).map(([name, module]) => {
          const wanted = filesOf(chunkOf(join('/src/pages', module)), chunks)
          const rest = wanted.filter((file) => !known.has(file) && !html.includes(file))
          return [name, rest.map((file) => `/${file}`)] as const
        })
        return [
          meta('pages', JSON.stringify(Object.fromEntries(files))),
          ...first.filter((name) => name.endsWith('.js')).map(preload),
        ]
      },
    },
  }
}

/** A chunk, what it imports, and the styles of all of them. */
function filesOf(entry: Chunk | undefined, chunks: readonly Chunk[]): string[] {
  const found = new Set<string>()
  function add(chunk: Chunk): void {
    if (found.has(chunk.fileName)) return
    found.add(chunk.fileName)
    for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style)
    for (const name of chunk.imports) {
      const imported = chunks.find(({ fileName }) => fileName === name)
      if (imported !== undefined) add(imported)
    }
  }
  if (entry !== undefined) add(entry)
  return [...found]
}

function meta(name: string, content: string): HtmlTagDescriptor {
  return { tag: 'meta', attrs: { name, content }, injectTo: 'head-prepend' }
}

function preload(name: string): HtmlTagDescriptor {
  const attrs = { rel: 'modulepreload', crossorigin: true, href: `/${name}` }
  return { tag: 'link', attrs, injectTo: 'head' }
}
