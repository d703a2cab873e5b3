// Renders the Helm chart with Helm itself and with Go's own template engine, if they are installed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import Ajv from 'ajv'
import { parse } from 'yaml'
import { listSettings } from '../../src/config.ts'
import {
  checkKubernetes,
  kubernetesFindings,
  readResources,
  type KubernetesResource,
} from '../harness/kubernetes.ts'
import { findProgram } from '../harness/proxy-program.ts'

const root = join(import.meta.dirname, '..', '..')
const chart = join(root, 'deploy', 'helm')
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>

type Values = Readonly<Record<string, unknown>>

/** Values that use everything that the chart offers, with texts that YAML would take for something else. */
const richValues = {
  image: { repository: 'registry.example.com/intercept', tag: '1.10', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  replicas: 5,
  trustedProxies: '10.0.0.0/8,fd00::/8',
  lameDuck: '70s',
  terminationGracePeriodSeconds: 110,
  settings: {
    LOG_LEVEL: 'debug',
    WORKERS: 2,
    METRICS_TARGETS: 12_345_678,
    OTEL_TRACES_SAMPLER_ARG: 0.25,
  },
  secret: { name: '0123', keys: ['INTERCEPT_SECRET', 'DATABASE_URL', 'SMTP_URL'] },
  extraCa: { configMap: '2026', key: '1.0' },
  service: { type: 'LoadBalancer', port: 8000, annotations: { 'example.com/internal': 'true' } },
  resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { memory: '1Gi' } },
  podAnnotations: { 'example.com/team': '7' },
  nodeSelector: { 'kubernetes.io/os': 'linux', 'example.com/fast': 'yes' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'edge', effect: 'NoSchedule' }],
  priorityClassName: '1000',
  podDisruptionBudget: { enabled: true, maxUnavailable: '25%' },
  networkPolicy: {
    enabled: true,
    from: [{ podSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    egress: [
      { to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432, protocol: 'TCP' }] },
      { ports: [{ port: 443 }] },
    ],
  },
  serviceMonitor: { enabled: true, interval: '30s', labels: { release: '2' } },
}
/** Chart values that switch off everything that can be switched off. */
const bareValues = {
  resources: {},
  podDisruptionBudget: { enabled: false, maxUnavailable: 1 },
  networkPolicy: { enabled: false, from: [], metricsFrom: [], egress: [] },
}

/** Release names that Helm accepts: some that YAML would misread, some that are no Service names, and the longest. */
const oddReleases = ['true', '2026', '1e3', 'edge.eu', 'a'.repeat(53)]

interface Renderer {
  readonly name: string
  readonly program: string | undefined
  render(changed: Values, release?: string): KubernetesResource[]
}

const renderers: readonly Renderer[] = [
  {
    name: 'Helm',
    program: findProgram('helm'),
    render: (changed, release = 'intercept') =>
      readResources(helm(['template', release, chart, '--kube-version', '1.30.0'], changed)),
  },
  {
    name: 'Go',
    program: findProgram('go'),
    render(changed, release = 'intercept') {
      const program = join(root, 'test', 'harness', 'helm', 'render.go')
      const words = ['run', program, chart, JSON.stringify({ ...values, ...changed }), release]
      const done = spawnSync(this.program ?? '', words, { encoding: 'utf8' })
      assert.equal(done.status, 0, done.stderr)
      return readResources(done.stdout)
    },
  },
]

/** Runs Helm with changed values. It finds neither its own configuration files nor a cluster. */
function helm(words: readonly string[], changed: Values): string {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-helm-'))
  try {
    writeFileSync(join(folder, 'values.yaml'), JSON.stringify(changed))
    const done = spawnSync(
      findProgram('helm') ?? '',
      [...words, '--values', join(folder, 'values.yaml')],
      { encoding: 'utf8', env: { HOME: folder, KUBECONFIG: join(folder, 'none') } },
    )
    assert.equal(done.status, 0, done.stdout + done.stderr)
    return done.stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const containerOf = (resources: readonly KubernetesResource[]) => {
  const deployment = resources.find(({ kind }) => kind === 'Deployment')
  const { spec } = deployment!.spec['template'] as {
    spec: {
      containers: {
        image: string
        env: { name: string; value: unknown }[]
        volumeMounts: { name: string; mountPath: string }[]
      }[]
    }
  }
  return spec.containers[0]!
}

describe('the Helm chart', () => {
  test('its values are as its schema says, and wrong ones are refused', () => {
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as object
    const validate = new Ajv.default({ allErrors: true, allowUnionTypes: true }).compile(schema)
    for (const changed of [{}, richValues, bareValues]) {
      assert.ok(validate({ ...values, ...changed }), JSON.stringify(validate.errors))
    }
    const ownNames = ['BASE_URL', 'TRUSTED_PROXIES', 'LAME_DUCK', 'METRICS_PORT', 'PORT']
    const secretNames = listSettings({}).flatMap(({ name, isSecret }) => (isSecret ? [name] : []))
    assert.ok(secretNames.length > 3)
    const wrong = [
      { baseUrl: 'http://api.example.com' },
      { replicas: 0 },
      { terminationGracePeriodSeconds: '110' },
      { secret: { name: 'x', keys: ['INTERCEPT_SECRET', 'SMTP_URL'] } },
      { settings: { limit_drain: '3s' } },
      ...[...ownNames, ...secretNames].map((name) => ({ settings: { [name]: 'x' } })),
      { podAnnotations: { 'prometheus.io/port': 9090 } },
      { service: { annotations: { 'example.com/internal': true } } },
      { nodeSelector: { 'example.com/fast': true } },
      { typo: true },
    ]
    for (const one of wrong) assert.ok(!validate({ ...values, ...one }), JSON.stringify(one))
  })

  for (const { name, program, render } of renderers.map((one) => ({
    ...one,
    render: one.render.bind(one),
  }))) {
    const skip = program === undefined && `${name} is not installed`
    const named = (text: string) => (skip === false ? text : `${text}: skipped, ${skip}`)

    test(named(`${name} renders what the documentation promises`), { skip }, () => {
      const usual = render({})
      checkKubernetes(usual)
      assert.ok(!usual.some(({ kind }) => kind === 'ServiceMonitor'))
      const rich = render(richValues)
      checkKubernetes(rich)
      assert.ok(rich.some(({ kind }) => kind === 'ServiceMonitor'))
      const policy = rich.find(({ kind }) => kind === 'NetworkPolicy')!.spec
      assert.equal((policy['ingress'] as unknown[]).length, 2)
      assert.equal((policy['egress'] as unknown[]).length, 3)
      const bare = render(bareValues)
      assert.ok(!bare.some(({ kind }) => /Policy|Budget/.test(kind)))
    })

    test(
      named(`${name} mounts authorities of one's own only where they are named`),
      { skip },
      () => {
        const caOf = (changed: Values) => {
          const { env, volumeMounts } = containerOf(render(changed))
          const file = env.find((one) => one.name === 'NODE_EXTRA_CA_CERTS')?.value
          return { file, folder: volumeMounts.find((one) => one.name === 'ca')?.mountPath }
        }
        assert.deepEqual(caOf({}), { file: undefined, folder: undefined })
        assert.deepEqual(caOf(richValues), {
          file: '/etc/intercept/ca.pem',
          folder: '/etc/intercept',
        })
      },
    )

    test(named(`${name} renders numbers among the settings as they were written`), { skip }, () => {
      const { env, image } = containerOf(render(richValues))
      const value = (of: string) => env.find((one) => one.name === of)?.value
      assert.equal(value('METRICS_TARGETS'), '12345678')
      assert.equal(value('OTEL_TRACES_SAMPLER_ARG'), '0.25')
      assert.equal(value('WORKERS'), '2')
      assert.equal(image, 'registry.example.com/intercept:1.10')
    })

    test(
      named(
        `${name} renders what follows Kubernetes' own API definition, whatever the release is called (but for ServiceMonitor, which is a custom resource)`,
      ),
      { skip },
      () => {
        const rendered = [
          ...[{}, richValues, bareValues].map((changed) => render(changed)),
          ...oddReleases.map((release) => render(richValues, release)),
        ].flat()
        const known = rendered.filter(({ kind }) => kind !== 'ServiceMonitor')
        assert.ok(known.length >= 45)
        assert.equal(kubernetesFindings(known), '')
        for (const { metadata } of known) {
          // The name of a Service must be an RFC 1035 label.
          assert.match(metadata.name, /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
        }
      },
    )
  }

  const skip = findProgram('helm') === undefined && 'Helm is not installed'
  test(
    skip === false ? 'helm lint --strict finds nothing to mend' : `helm lint: skipped, ${skip}`,
    { skip },
    (t) => {
      for (const changed of [{}, richValues, bareValues]) {
        const said = helm(['lint', '--strict', chart], changed)
        assert.match(said, /1 chart\(s\) linted, 0 chart\(s\) failed/)
        assert.doesNotMatch(said, /\[(WARNING|ERROR)\]/)
      }
      assert.throws(() => helm(['lint', '--strict', chart], { typo: true }), /typo/)
      t.diagnostic('helm lint --strict: three sets of values, 0 warnings')
    },
  )
})
