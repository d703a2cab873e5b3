import { join } from 'node:path'
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'
import { frameWords as german } from './words/de/common.ts'
import { frameWords } from './words/en.ts'

type Chunk = Rolldown.OutputChunk

const app = '/src/App.tsx'
type Place = Exclude<keyof typeof frameWords.pages, 'you'>

interface Page {
  readonly module: string
  /** What it asks for first, below its organization; a day ago and the next quarter of an hour stand in braces. */
  readonly asks: readonly string[]
  /** The fields that a slow line shows of the first list asked for, a cell each; a cell may hold several. */
  readonly rows?: readonly string[]
  /** Whether everybody in the organization may see it: it stands in the navigation before we know who this is. */
  readonly isEverybodys?: boolean
}

const traffic = '/rollups?from={from}&to={to}&step_ms=900000'
/** The pages whose code and data are asked for with the first bytes, by the part of their address behind the organization. */
const pages: Readonly<Record<Place, Page>> = {
  overview: {
    module: 'overview/Overview.tsx',
    asks: [traffic, '/attention', '/first-steps'],
    isEverybodys: true,
  },
  calls: {
    module: 'calls/Calls.tsx',
    asks: ['/calls?from={from}&limit=100', traffic],
    rows: ['at', 'status', 'method path', 'target', 'key_name'],
    isEverybodys: true,
  },
  keys: { module: 'keys/Keys.tsx', asks: ['/keys'], isEverybodys: true },
  targets: { module: 'targets/Targets.tsx', asks: ['/targets'], isEverybodys: true },
  webhooks: { module: 'webhooks/Endpoints.tsx', asks: [], isEverybodys: true },
  members: { module: 'members/Members.tsx', asks: ['/members'], isEverybodys: true },
  sso: { module: 'sso/Sso.tsx', asks: [] },
  audit: { module: 'audit/Audit.tsx', asks: [] },
  settings: { module: 'settings/Settings.tsx', asks: [] },
}

/**
 * The dashboard's code is asked for beside the few lines that choose its language, not after them. start.js asks for it,
 * but first for the page's data: a browser opens six connections, and on a slow line code would hold them for seconds. It
 * writes the page's heading, the navigation and its first rows, so that there is something to read meanwhile.
 */
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
        const found = Object.entries(pages).map(([name, { module, ...page }]) => {
          const wanted = filesOf(chunkOf(join('/src/pages', module)), chunks)
          const rest = wanted.filter((file) => !known.has(file) && !html.includes(file))
          const title = { en: frameWords.pages[name as Place], de: german.pages[name as Place] }
          return [name, { ...page, files: rest.map((file) => `/${file}`), title }]
        })
        return [
          meta('pages', JSON.stringify(Object.fromEntries(found))),
          meta('app', first.map((file) => `/${file}`).join(' ')),
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
