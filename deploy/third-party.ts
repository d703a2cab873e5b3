/** Lists the third-party code in our package: licences for people, a bill of materials for programs. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A third-party package that we install or bundle. */
export interface Component {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string | undefined
  /** The package's folder in this checkout. */
  readonly folder: string
}

/** The packages that the dashboard and bin/bundled are built from; their dependencies are bundled too. */
const bundledRoots = [
  '@base-ui/react',
  '@fontsource-variable/instrument-sans',
  '@fontsource/ibm-plex-mono',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'kysely',
  'react',
  'react-dom',
]

function readLock(root: string): Record<string, LockEntry> {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { packages: Record<string, LockEntry> }).packages
}

/** Lists the packages that are bundled, with all their dependencies. */
export function bundledComponents(root: string): Component[] {
  const lock = readLock(root)
  const found = new Map<string, Component>()
  const waiting = [...bundledRoots]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const path = `node_modules/${name}`
    const entry = lock[path]
    if (found.has(name) || entry === undefined) continue
    found.set(name, componentOf(root, path, entry))
    waiting.push(...Object.keys(entry.dependencies ?? {}))
  }
  return sorted([...found.values()])
}

/** Lists the packages that npm installs with ours. */
export function installedComponents(root: string): Component[] {
  const own = Object.entries(readLock(root)).filter(
    ([path, entry]) => path !== '' && entry.dev !== true && entry.optional !== true,
  )
  return sorted(own.map(([path, entry]) => componentOf(root, path, entry)))
}

/** The licence texts of everything that is bundled, verbatim. */
export function renderNotices(components: readonly Component[]): string {
  const parts = components.map(({ name, version, license, folder }) => {
    const file = readdirSync(folder).find((one) => /^(licen[cs]e|copying)/i.test(one))
    if (file === undefined) throw new Error(`${name} has no licence file`)
    const text = readFileSync(join(folder, file), 'utf8').trim()
    return `${'='.repeat(78)}\n${name} ${version} (${license})\n${'='.repeat(78)}\n\n${text}\n`
  })
  return `The dashboard contains these programs and fonts.\n\n${parts.join('\n')}`
}

/**
 * Renders a bill of materials (CycloneDX 1.6). It contains no time and nothing random, so that the same tree always
 * gives the same text.
 */
export function renderBill(
  product: { readonly name: string; readonly version: string },
  components: readonly Component[],
): string {
  const seen = new Map(components.map((one) => [purlOf(one), one]))
  const digest = createHash('sha256')
    .update(`${product.version} ${[...seen.keys()].toSorted().join(' ')}`)
    .digest('hex')
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      serialNumber: `urn:uuid:${uuidOf(digest)}`,
      version: 1,
      metadata: {
        component: {
          type: 'application',
          'bom-ref': `pkg:npm/${product.name}@${product.version}`,
          ...product,
          licenses: [{ license: { id: 'Apache-2.0' } }],
        },
      },
      components: [...seen].map(([purl, { name, version, license, integrity }]) => ({
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        purl,
        licenses: [
          / (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } },
        ],
        ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
      })),
    },
    undefined,
    2,
  )}\n`
}

function componentOf(root: string, path: string, entry: LockEntry): Component {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const { version = '', license = 'NOASSERTION', integrity } = entry
  return { name, version, license, integrity, folder: join(root, path) }
}

function sorted(components: readonly Component[]): Component[] {
  return components.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function purlOf({ name, version }: Component): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** Converts npm's integrity digest from base64 to hex, as a bill of materials requires. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [, base64 = ''] = /^sha512-(.+)$/.exec(integrity) ?? []
  return { alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }
}

function uuidOf(hex: string): string {
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
