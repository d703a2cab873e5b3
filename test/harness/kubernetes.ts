// Checks Kubernetes resources as strictly as `kubeconform -strict`, but with the TypeScript types that the package
// kubernetes-types generates from Kubernetes' own API definition: the compiler refuses unknown and missing fields.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { listSettings } from '../../src/config.ts'

const modules = join(import.meta.dirname, '..', '..', 'node_modules')
const options = '--ignoreConfig --noEmit --strict --pretty false --module preserve'.split(' ')

export interface KubernetesResource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}
interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
}
interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly topologySpreadConstraints: readonly unknown[]
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string }[]
}

/** Reports what is wrong with resources according to Kubernetes' API definition; empty if nothing is. */
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

/** Writes a resource as a constant of its kind's type. The types of `networking.k8s.io/v1` are in networking/v1. */
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

/** Reads the resources of a YAML file with several documents, some of which may be empty. */
export function readResources(text: string): KubernetesResource[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => {
      assert.deepEqual(document.errors, [])
      return document.toJS() as KubernetesResource | null
    })
    .filter((one) => one !== null)
}

/** Checks what all of our Kubernetes deployments must satisfy, however they were rendered. */
export function checkKubernetes(resources: readonly KubernetesResource[]): void {
  const kinds = resources.map(({ kind }) => kind)
  for (const kind of [
    'ServiceAccount',
    'Deployment',
    'Service',
    'PodDisruptionBudget',
    'NetworkPolicy',
  ]) {
    assert.ok(kinds.includes(kind), kind)
  }
  const deployment = resources.find(({ kind }) => kind === 'Deployment')
  const { spec } = deployment!.spec['template'] as { spec: PodSpec }
  assert.equal(spec.automountServiceAccountToken, false)
  assert.equal(spec.topologySpreadConstraints.length, 2)
  assert.ok(spec.terminationGracePeriodSeconds > 35)
  assert.equal(spec.securityContext['runAsNonRoot'], true)
  const [container] = spec.containers
  assert.ok(container)
  assert.equal(container.securityContext['readOnlyRootFilesystem'], true)
  assert.equal(container.securityContext['allowPrivilegeEscalation'], false)
  assert.deepEqual(
    container.ports.map(({ name, containerPort }) => [name, containerPort]),
    [
      ['http', 8080],
      ['metrics', 9090],
    ],
  )
  const volumes = spec.volumes.map(({ name }) => name)
  for (const { name } of container.volumeMounts) assert.ok(volumes.includes(name), name)
  checkSettings(container.env.map(({ name }) => name))
}

/** Checks that every name is a setting (or Node's own), and that secrets, and only they, are given as files. */
export function checkSettings(names: readonly string[]): void {
  for (const name of names) {
    const setting = listSettings({}).find((one) => one.name === name.replace(/_FILE$/, ''))
    if (name.startsWith('NODE_')) continue
    assert.ok(setting, `${name} is no setting`)
    assert.equal(setting.isSecret, name.endsWith('_FILE'), name)
  }
}
