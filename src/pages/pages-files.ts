import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

/** One file of the bundle in memory, with its compressed forms from the build. */
export interface PageFile {
  readonly type: string
  readonly etag: string
  /** Whether its name changes with its content, so that browsers may cache it forever. */
  readonly hashed: boolean
  readonly plain: Buffer
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Reads the built dashboard, about 1 MB, as a map by URL path; undefined if it has not been built. */
export async function readPageFiles(
  folder: string,
): Promise<ReadonlyMap<string, PageFile> | undefined> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => [])
  if (!names.includes('index.html')) return undefined
  const present = new Set(names)
  const builtAt = Date.now().toString(36)
  const files = new Map<string, PageFile>()
  for (const name of names) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const read = (ending: string) =>
      present.has(name + ending) ? readFile(join(folder, name + ending)) : undefined
    const plain = await readFile(join(folder, name))
    const address = `/${name.split(sep).join('/')}`
    files.set(address, {
      type,
      etag: `"${plain.length.toString(36)}-${builtAt}"`,
      hashed: address.startsWith('/assets/'),
      plain,
      br: await read('.br'),
      gzip: await read('.gz'),
    })
  }
  return files
}

/**
 * Whether a checkout has no build, or has sources that are newer than it, for example after `git pull`. A published
 * package contains no sources and is never stale.
 */
export async function isStale(webFolder: string): Promise<boolean> {
  const names = await readdir(webFolder, { recursive: true }).catch((): string[] => [])
  const sources = names.filter((name) => !name.startsWith('dist') && extname(name) !== '')
  if (!sources.includes('build.ts')) return false
  const built = await stat(join(webFolder, 'dist', 'index.html')).catch(() => undefined)
  if (built === undefined) return true
  const changed = await Promise.all(sources.map((name) => stat(join(webFolder, name))))
  return changed.some((source) => source.mtimeMs > built.mtimeMs)
}

/** Chooses brotli or else gzip, if the file has it and the request accepts it (RFC 9110, section 12.5.3). */
export function chooseEncoding(
  file: PageFile,
  acceptEncoding: string | undefined,
): { encoding: 'br' | 'gzip' | undefined; bytes: Buffer } {
  const offered = parseOffers(acceptEncoding)
  if (file.br !== undefined && offered.has('br')) return { encoding: 'br', bytes: file.br }
  if (file.gzip !== undefined && offered.has('gzip')) return { encoding: 'gzip', bytes: file.gzip }
  return { encoding: undefined, bytes: file.plain }
}

function parseOffers(header = ''): ReadonlySet<string> {
  const offers = new Set<string>()
  for (const part of header.toLowerCase().split(',').slice(0, 20)) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    if (!parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter))) offers.add(name)
  }
  return offers
}
