import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import {
  checkKubernetes,
  checkSettings,
  kubernetesFindings,
  readResources,
} from '../harness/kubernetes.ts'
import { findProgram } from '../harness/proxy-program.ts'

const root = join(import.meta.dirname, '..', '..')
const deploy = join(root, 'deploy')

const manifests = readFileSync(join(deploy, 'kubernetes', 'intercept.yaml'), 'utf8')

interface IngressRule {
  readonly http: {
    readonly paths: readonly { readonly backend: { readonly service: object } }[]
  }
}
interface RouteRule {
  readonly timeouts: { readonly request: string }
  readonly backendRefs: readonly object[]
}

describe('deployment samples', () => {
  test('the image is healthy when its process answers, also while its database is away', async () => {
    const image = readFileSync(join(deploy, 'Dockerfile'), 'utf8')
    const [, command = '[]'] = /^HEALTHCHECK .*\\\n {2}CMD (.+)$/m.exec(image) ?? []
    const [, ...words] = JSON.parse(command) as string[]
    const asked: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(request.url)
      response.writeHead(request.url === '/healthz' ? 200 : 503).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const check = async (): Promise<number | null> => {
      const env = { ...process.env, PORT: String(port) }
      const [code] = (await once(spawn(process.execPath, words, { env }), 'exit')) as [
        number | null,
      ]
      return code
    }
    assert.equal(await check(), 0)
    assert.deepEqual(asked, ['/healthz'])
    server.close()
    server.closeAllConnections()
    assert.equal(await check(), 1)
  })

  test('the Kubernetes manifests hold everything that the documentation promises', () => {
    checkKubernetes(readResources(manifests))
  })

  test("the Kubernetes manifests follow Kubernetes' own API definition, which refuses unknown fields", () => {
    assert.equal(kubernetesFindings(readResources(manifests)), '')
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
        return readResources(manifests.replace(right, mistake))
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

  test('Ingress and HTTPRoute lead to the Service, without the limits that proxies have by themselves', () => {
    const sample = (name: string) =>
      readResources(readFileSync(join(deploy, 'kubernetes', name), 'utf8'))
    const [ingress] = sample('ingress.yaml')
    const [route] = sample('httproute.yaml')
    const service = readResources(manifests).find(({ kind }) => kind === 'Service')
    const ports = service?.spec['ports'] as { name: string; port: number }[]
    assert.equal(kubernetesFindings([ingress!]), '')
    const [rule] = ingress!.spec['rules'] as IngressRule[]
    const [path] = rule?.http.paths ?? []
    assert.deepEqual(path?.backend.service, {
      name: service?.metadata.name,
      port: { name: ports[0]?.name },
    })
    const given = (ingress!.metadata as { annotations?: Record<string, string> }).annotations
    const prefix = 'nginx.ingress.kubernetes.io/proxy'
    assert.equal(given?.[`${prefix}-body-size`], '0')
    assert.equal(given?.[`${prefix}-buffering`], 'off')
    assert.equal(given?.[`${prefix}-request-buffering`], 'off')
    assert.ok(Number(given?.[`${prefix}-read-timeout`]) > 300)
    const [way] = route!.spec['rules'] as RouteRule[]
    assert.deepEqual(way?.backendRefs, [{ name: service?.metadata.name, port: ports[0]?.port }])
    assert.equal(way?.timeouts.request, '0s')
  })

  test('so do the Kubernetes samples in the documentation', () => {
    const shown = globSync('docs/**/*.md', { cwd: root })
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /^```yaml\n(apiVersion:[\s\S]*?)^```$/gm,
        ),
      ])
      .flatMap(([, text = '']) => readResources(text))
    assert.ok(shown.length >= 4, String(shown.length))
    assert.equal(kubernetesFindings(shown), '')
  })

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
    const [route] = readResources(readFileSync(join(deploy, 'proxies', 'gateway-api.yaml'), 'utf8'))
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
