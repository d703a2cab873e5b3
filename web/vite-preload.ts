import { join } from 'node:path'
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'
import { frameWords as german } from './words/de/common.ts'
import { frameWords } from './words/en.ts'

type Chunk = Rolldown.OutputChunk

const app = '/src/App.tsx'
type Place = Exclude<keyof typeof frameWords.pages, 'you'>

interface Page {
  readonly module: string
  /** The page's first requests, as paths below its organization; `{from}` and `{to}` span the last 24 hours. */
  readonly asks: readonly string[]
  /** The columns of the first requested list, shown on a slow connection; each names one or more fields. */
  readonly rows?: readonly string[]
  /** Whether every member may see the page, so that it is in the navigation before the person is known. */
  readonly isEverybodys?: boolean
}

const traffic = '/rollups?from={from}&to={to}&step_ms=900000'
/** The pages whose code and data are requested early, by their path below the organization (empty for `overview`). */
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
 * Lists each page's files and first requests in index.html, so that start.js can request them before any module runs.
 * start.js requests the page's data before its code: a browser opens six connections, and on a slow connection code
 * would occupy them for seconds. Meanwhile start.js shows the heading, the navigation and, if the page has `rows`, the
 * first rows of its list.
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

/** Finds the files of a chunk: the chunk itself, everything it imports, and the styles of all of these. */
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
