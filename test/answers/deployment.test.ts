import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Ajv from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { listSettings } from '../../src/config.ts'
import { kubernetesFindings } from '../harness/kubernetes.ts'
import { findProgram } from '../harness/proxy-program.ts'

const root = join(import.meta.dirname, '..', '..')
const deploy = join(root, 'deploy')
const settings = listSettings({})

interface Resource {
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

function documents(text: string): Resource[] {
  return parseAllDocuments(text)
    .map((document) => {
      assert.deepEqual(document.errors, [])
      return document.toJS() as Resource | null
    })
    .filter((one) => one !== null)
}

/** Checks what all of our Kubernetes deployments must satisfy, however they were rendered. */
function checkKubernetes(resources: readonly Resource[]): void {
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

/** Every name is a setting, and the environment itself contains no secret. */
function checkSettings(names: readonly string[]): void {
  for (const name of names) {
    const setting = settings.find((one) => one.name === name.replace(/_FILE$/, ''))
    if (name === 'NODE_ENV') continue
    assert.ok(setting, `${name} is no setting`)
    assert.equal(setting.isSecret, name.endsWith('_FILE'), name)
  }
}

const chart = join(deploy, 'helm')
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>
const go = findProgram('go')

/** Values that use everything that the chart offers. */
const richValues = {
  serviceMonitor: { enabled: true, interval: '30s', labels: { release: 'prometheus' } },
  settings: { LOG_LEVEL: 'debug', WORKERS: 2 },
  service: { type: 'LoadBalancer', port: 8000, annotations: { 'example.com/internal': 'true' } },
  podAnnotations: { 'example.com/team': 'edge' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'edge', effect: 'NoSchedule' }],
  imagePullSecrets: [{ name: 'registry' }],
  priorityClassName: 'system-cluster-critical',
  networkPolicy: {
    enabled: true,
    from: [{ podSelector: {} }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
  },
}
/** Chart values that switch off everything that can be switched off. */
const bareValues = {
  podDisruptionBudget: { enabled: false, maxUnavailable: 1 },
  networkPolicy: { enabled: false, from: [], metricsFrom: [], egress: [] },
}

function render(changed: Record<string, unknown>): Resource[] {
  const program = join(root, 'test', 'harness', 'helm', 'render.go')
  const all = JSON.stringify({ ...values, ...changed })
  const done = spawnSync(go ?? '', ['run', program, chart, all], { encoding: 'utf8' })
  assert.equal(done.status, 0, done.stderr)
  return documents(done.stdout)
}

const manifests = readFileSync(join(deploy, 'kubernetes', 'intercept.yaml'), 'utf8')

describe('deployment samples', () => {
  test('the Kubernetes manifests hold everything that the documentation promises', () => {
    checkKubernetes(documents(manifests))
  })

  test("the Kubernetes manifests follow Kubernetes' own API definition, which refuses unknown fields", () => {
    assert.equal(kubernetesFindings(documents(manifests)), '')
    const wrong = [
      ['enableServiceLinks', 'enableServiceLink'],
      ['maxUnavailable: 0', 'maxUnavailableNodes: 0'],
      ['replicas: 3', "replicas: '3'"],
      ['maxSkew: 1', 'maxSkew: 1.5'],
      ['drop: [ALL]', 'drop: ALL'],
      ['image: intercept:0.1.0', 'imageName: intercept'],
      ['policy/v1', 'policy/v1beta1'],
      ['kind: NetworkPolicy', 'kind: NetworkPolicies'],
    ] as const
    const found = kubernetesFindings(
      wrong.flatMap(([right, mistake]) => {
        assert.ok(manifests.includes(right), right)
        return documents(manifests.replace(right, mistake))
      }),
    )
    for (const message of [
      `'"enableServiceLink"' does not exist in type 'PodSpec'`,
      `'"maxUnavailableNodes"' does not exist in type 'RollingUpdateDeployment'`,
      "Type 'string' is not assignable to type 'number'",
      '1.5 is no integer',
      "Type 'string' is not assignable to type 'string[]'",
      `'"imageName"' does not exist in type 'Container'`,
      "Cannot find module 'kubernetes-types/policy/v1beta1'",
      "no exported member 'NetworkPolicies'",
    ]) {
      assert.ok(found.includes(message), `${message} is not in:\n${found}`)
    }
  })

  test("the chart's values are as its schema says, and wrong ones are refused", () => {
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as object
    const validate = new Ajv.default({ allErrors: true, allowUnionTypes: true }).compile(schema)
    assert.ok(validate(values), JSON.stringify(validate.errors))
    const wrong = [
      { baseUrl: 'http://api.example.com' },
      { replicas: 0 },
      { secret: { name: 'x', keys: ['INTERCEPT_SECRET', 'SMTP_URL'] } },
      { settings: { limit_drain: '3s' } },
      { typo: true },
    ]
    for (const one of wrong) assert.ok(!validate({ ...values, ...one }), JSON.stringify(one))
  })

  test(
    go === undefined ? 'the chart is rendered: skipped, Go is not installed' : 'the chart renders',
    { skip: go === undefined && 'Go is not installed' },
    () => {
      const usual = render({})
      checkKubernetes(usual)
      assert.ok(!usual.some(({ kind }) => kind === 'ServiceMonitor'))
      const rich = render(richValues)
      checkKubernetes(rich)
      assert.ok(rich.some(({ kind }) => kind === 'ServiceMonitor'))
      const policy = rich.find(({ kind }) => kind === 'NetworkPolicy')!.spec
      assert.equal((policy['ingress'] as unknown[]).length, 2)
      assert.equal((policy['egress'] as unknown[]).length, 2)
      const bare = render(bareValues)
      assert.ok(!bare.some(({ kind }) => /Policy|Budget/.test(kind)))
    },
  )

  test(
    go === undefined
      ? "the rendered chart follows Kubernetes' own API definition: skipped, Go is not installed"
      : "the rendered chart follows Kubernetes' own API definition (but for ServiceMonitor, which is a custom resource)",
    { skip: go === undefined && 'Go is not installed' },
    () => {
      const rendered = [{}, richValues, bareValues].flatMap((changed) => render(changed))
      const known = rendered.filter(({ kind }) => kind !== 'ServiceMonitor')
      assert.ok(known.length >= 15)
      assert.equal(kubernetesFindings(known), '')
    },
  )

  const analyze = findProgram('systemd-analyze')
  test(
    analyze === undefined
      ? "the unit's exposure: skipped, systemd-analyze is not installed"
      : "the unit's exposure is 2.0 at most by systemd's own judgement",
    { skip: analyze === undefined && 'systemd-analyze is not installed' },
    (t) => {
      const words = ['security', '--offline=true', '--no-pager', join(deploy, 'intercept.service')]
      const { stdout, stderr } = spawnSync(analyze ?? '', words, { encoding: 'utf8' })
      const [, exposure] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
      assert.ok(Number(exposure) <= 2, `${exposure} ${stderr}`)
      t.diagnostic(`exposure ${exposure}`)
    },
  )

  test('the compose file names settings and secrets that exist, and no secret in the environment', () => {
    const { services, secrets } = parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8')) as {
      services: Record<string, { environment?: Record<string, string>; secrets?: string[] }>
      secrets: Record<string, { file: string }>
    }
    checkSettings(Object.keys(services['intercept']?.environment ?? {}))
    for (const { secrets: used = [], environment = {} } of Object.values(services)) {
      for (const name of used) assert.ok(secrets[name], name)
      for (const value of Object.values(environment)) {
        const [, file] = /^\/run\/secrets\/(.+)$/.exec(value) ?? []
        if (file !== undefined) assert.ok(used.includes(file), file)
      }
    }
  })

  const compose = findProgram('docker-compose')
  test(
    compose === undefined
      ? 'the compose file is read by Compose: skipped, docker-compose is not installed'
      : 'Compose reads the file',
    { skip: compose === undefined && 'docker-compose is not installed' },
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'intercept-compose-'))
      try {
        const words = ['-f', join(deploy, 'compose.yaml'), 'config', '--quiet']
        const env = { PATH: process.env['PATH'], HOME: folder, HOST_NAME: 'api.example.com' }
        const done = spawnSync(compose ?? '', words, { env, encoding: 'utf8' })
        assert.equal(done.status, 0, done.stderr)
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )

  test('the Gateway API sample asks at the path and by the headers that the decision is made of', () => {
    const [route] = documents(readFileSync(join(deploy, 'proxies', 'gateway-api.yaml'), 'utf8'))
    const [rule] = route!.spec['rules'] as {
      filters: {
        type: string
        externalAuth?: { http: { path: string; allowedHeaders: string[] } }
      }[]
    }[]
    const asked = rule?.filters.find(({ type }) => type === 'ExternalAuth')?.externalAuth
    assert.equal(asked?.http.path, '/api/v1/intercept/-/check')
    for (const name of ['X-API-Key', 'Authorization', 'X-Forwarded-For']) {
      assert.ok(asked.http.allowedHeaders.includes(name), name)
    }
  })
})
