// Checks Kubernetes resources strictly, as `kubeconform -strict` does: against the types that the package
// kubernetes-types generates from Kubernetes' own API definition. The compiler refuses unknown and missing fields.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const options = '--ignoreConfig --noEmit --strict --pretty false --module preserve'.split(' ')

export interface KubernetesResource {
  readonly apiVersion: string
  readonly kind: string
}

/** What is wrong with these resources according to Kubernetes' API definition; empty if nothing is. */
export function kubernetesFindings(resources: readonly KubernetesResource[]): string {
  const fractions = resources.flatMap((resource) => fractionsIn(resource))
  const folder = mkdtempSync(join(tmpdir(), 'intercept-kubernetes-'))
  try {
    symlinkSync(modules, join(folder, 'node_modules'))
    writeFileSync(join(folder, 'resources.ts'), resources.map(constantOf).join('\n'))
    const words = [...options, 'resources.ts']
    const done = spawnSync(join(modules, '.bin', 'tsc'), words, { cwd: folder, encoding: 'utf8' })
    if (done.error !== undefined) throw done.error
    return [...fractions, done.stdout, done.stderr].join('')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A constant of the type that a resource says it has: `networking.k8s.io/v1` is in the file networking/v1. */
function constantOf(resource: KubernetesResource, at: number): string {
  const { apiVersion, kind } = resource
  const [version = '', group = 'core'] = apiVersion.split('/').toReversed()
  const type = `import('kubernetes-types/${group.split('.')[0]}/${version}').${kind}`
  return `export const resource${at}: ${type} = ${JSON.stringify(resource, undefined, 2)}`
}

/** Finds fractions: every number in these resources must be an integer, which a TypeScript type can't require. */
function fractionsIn(value: unknown): string[] {
  if (typeof value === 'number') return Number.isInteger(value) ? [] : [`${value} is no integer\n`]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(fractionsIn)
}
