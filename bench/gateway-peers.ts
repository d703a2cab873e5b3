// Starts Intercept and the peers that the benchmark compares it with. nginx and HAProxy are configured to do the same
// job as well as they can.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startServerProcess } from '../test/harness/server-process.ts'
import { mintCredential } from '../src/secrets/index.ts'
import { childrenOf, pin, startPeer, unusedPort } from './processes.ts'

/**
 * A program to measure. A `proxy` forwards calls with a valid key to the upstream that all peers share; an
 * `auth_request` first asks Intercept about each call. A `relay` forwards all bytes, a `check` only decides on calls,
 * and the `upstream` itself is measured too.
 */
export interface Peer {
  readonly name: string
  readonly kind: 'proxy' | 'relay' | 'check' | 'auth_request' | 'upstream'
  readonly port: number
  readonly pid: number
  /** Further processes whose CPU time counts as the peer's. */
  readonly besides?: readonly number[]
  /** What precedes the upstream's path in a request to this peer. */
  readonly prefix: string
  /** Where this peer forwards calls to the upstream of the load at a fixed rate (gateway-paced.ts). */
  readonly paced?: { readonly port: number; readonly prefix: string }
  readonly key: string
  /** A well-formed key that does not exist. */
  readonly unknownKey?: string
  readonly limitedKey?: string
  readonly metricsPort?: number
  end(): Promise<void>
}

/** The ports of the upstream that all loads but one use, and of the one that the load at a fixed rate is itself. */
export interface UpstreamPorts {
  readonly upstreamPort: number
  readonly pacedPort: number
}

const execute = promisify(execFile)
const keysInMap = 100_000
const answer = 'x'.repeat(1024)

const passUpgrades = `proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;`
const connectionUpgrade = `map $http_upgrade $connection_upgrade { default upgrade; '' ""; }`

/** The upstream is an nginx that returns 1 KB; behind it, a server of our own serves large bodies and streams. */
export async function startUpstream(nginx: string, folder: string): Promise<Peer> {
  const port = await unusedPort()
  const richPort = await unusedPort()
  const file = join(import.meta.dirname, 'gateway-upstream.ts')
  const rich = await startPeer(process.execPath, [file, String(richPort)], richPort)
  const location = `client_max_body_size 0;
    location ~ ^/items/(large|up|events|frames) { ${passUpgrades} proxy_pass http://127.0.0.1:${richPort}; }
    location / { default_type text/plain; return 200 "${answer}"; }`
  const http = connectionUpgrade
  const own = await startNginxWith(nginx, folder, { name: 'upstream', port, http, location })
  for (const pid of [own.pid, rich.pid ?? 0]) pin(pid, 'load')
  return {
    ...own,
    end: async () => {
      rich.kill('SIGKILL')
      await own.end()
    },
  }
}

/** Starts nginx with a map of 100,000 keys; it refuses every other key with 401. */
export async function startNginx(
  nginx: string,
  folder: string,
  given: UpstreamPorts & { accessLog: boolean },
): Promise<Peer> {
  const port = await unusedPort()
  const name = given.accessLog ? 'nginx map, access log' : 'nginx map'
  const home = join(folder, `map${port}`)
  mkdirSync(home)
  const key = freshKey()
  const lines = [key, ...Array.from({ length: keysInMap - 1 }, freshKey)]
  writeFileSync(join(home, 'keys.map'), lines.map((each) => `"${each}" 1;`).join('\n'))
  const http = `map_hash_max_size 262144; map_hash_bucket_size 256;
    map $http_x_api_key $known { default 0; include ${home}/keys.map; }
    ${connectionUpgrade}
    upstream api { server 127.0.0.1:${given.upstreamPort}; keepalive 128; }
    upstream paced { server 127.0.0.1:${given.pacedPort}; keepalive 128; }
    ${given.accessLog ? `access_log ${home}/access.log;` : 'access_log off;'}`
  const guard = (name: string): string =>
    `if ($known = 0) { return 401; } proxy_pass http://${name}; proxy_set_header X-API-Key "";`
  const location = `client_max_body_size 0;
    location ~ ^/items/(large|up|events|frames) { ${guard('api')} ${passUpgrades} }
    location /paced/ { ${guard('paced')} proxy_http_version 1.1; proxy_set_header Connection ""; }
    location / { ${guard('api')} proxy_http_version 1.1; proxy_set_header Connection ""; }`
  const paced = { port, prefix: '/paced' }
  return { ...(await startNginxWith(nginx, folder, { name, port, http, location })), key, paced }
}

/** Starts HAProxy with a map of the SHA-256 digests of 100,000 keys; it refuses every other key with 401. */
export async function startHaproxy(
  haproxy: string,
  folder: string,
  { upstreamPort, pacedPort }: UpstreamPorts,
): Promise<Peer> {
  const port = await unusedPort()
  const key = freshKey()
  const keys = [key, ...Array.from({ length: keysInMap - 1 }, freshKey)]
  const file = join(folder, 'haproxy.map')
  writeFileSync(file, keys.map((each) => `${sha256(each).toUpperCase()} 1`).join('\n'))
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend in
  bind 127.0.0.1:${port}
  http-request set-var(req.known) req.hdr(x-api-key),sha2(256),hex,map_str(${file})
  http-request deny deny_status 401 unless { var(req.known) -m found }
  http-request del-header X-API-Key
  use_backend paced if { path_beg /paced/ }
  default_backend api
backend api
  http-reuse always
  server api 127.0.0.1:${upstreamPort}
backend paced
  http-reuse always
  server paced 127.0.0.1:${pacedPort}
`,
  )
  const child = await startPeer(haproxy, ['-db', '-f', config], port)
  return {
    ...{ name: 'HAProxy SHA-256 map', kind: 'proxy' as const, port, pid: child.pid ?? 0 },
    ...{ prefix: '', key, paced: { port, prefix: '/paced' } },
    end: async () => void child.kill('SIGKILL'),
  }
}

/** Starts a relay of bytes on `node:net`, to show what reading and writing alone cost a Node program. */
export async function startRelay({ upstreamPort, pacedPort }: UpstreamPorts): Promise<Peer> {
  const port = await unusedPort()
  const other = await unusedPort()
  const file = join(import.meta.dirname, 'gateway-relay.ts')
  const ports = [port, upstreamPort, other, pacedPort].map(String)
  const words = ['--max-semi-space-size=4', file, ...ports]
  const child = await startPeer(process.execPath, words, port)
  return {
    ...{ name: 'bytes alone, node:net', kind: 'relay', port, pid: child.pid ?? 0 },
    ...{ prefix: '', key: '', paced: { port: other, prefix: '' } },
    end: async () => void child.kill('SIGKILL'),
  }
}

/** Starts Intercept as an operator would: with rules, rate limits on key and target, and call records. */
export async function startIntercept(
  folder: string,
  given: Partial<UpstreamPorts> & { profile: boolean; beside?: string; workers?: number },
): Promise<Peer> {
  const metricsPort = await unusedPort()
  const { beside } = given
  const name = beside === undefined ? 'Intercept' : 'Intercept beside'
  const program = join(beside ?? join(import.meta.dirname, '..'), 'bin', 'intercept.js')
  const env = {
    ...{ DATA_DIR: join(folder, name), LOG_LEVEL: 'info', HOST: '127.0.0.1' },
    METRICS_PORT: String(metricsPort),
    WORKERS: String(given.workers ?? 1),
  }
  const profiling = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${join(folder, 'profile')}` }
  const server = await startServerProcess({ ...env, ...(given.profile ? profiling : {}) }, program)
  const { port } = new URL(server.baseUrl)
  const run = async (...words: string[]): Promise<Record<string, unknown>> => {
    const surroundings = { env: { PATH: process.env['PATH'], ...env, PORT: port } }
    const done = await execute(process.execPath, [program, ...words, '--json'], surroundings)
    return JSON.parse(done.stdout) as Record<string, unknown>
  }
  const issue = async (rate: string): Promise<string> =>
    String((await run('key', 'issue', 'bench', '--name', 'bench', '--rate', rate))['secret'])
  await run('org', 'create', 'bench')
  const rules = ['deny DELETE /admin/*', 'deny * /internal/*', 'allow * /items/*'].flatMap(
    (rule) => ['--rule', rule],
  )
  const rate = '1000000/s'
  const targets = { api: given.upstreamPort, paced: given.pacedPort }
  for (const [target, upstreamPort] of Object.entries(targets)) {
    if (upstreamPort === undefined) continue
    const upstream = `http://127.0.0.1:${upstreamPort}`
    await run('target', 'set', 'bench', target, '--upstream', upstream, '--rate', rate, ...rules)
  }
  const key = await issue(rate)
  return {
    ...{ name, kind: 'proxy', port: Number(port), pid: server.pid },
    ...{ prefix: '/api/v1/intercept/api', key, unknownKey: neverIssued(key) },
    paced: { port: Number(port), prefix: '/api/v1/intercept/paced' },
    limitedKey: await issue('1/h'),
    metricsPort,
    end: async () => {
      // Stops it gracefully when profiling, because only then does Node write the profile.
      server.kill(given.profile ? 'SIGTERM' : 'SIGKILL')
      await server.ended
    },
  }
}

/**
 * Returns the decision endpoint as two peers: called directly, and asked by an nginx that forwards the calls itself.
 */
export async function startDecisions(
  nginx: string,
  folder: string,
  { intercept: node, upstreamPort }: { intercept: Peer; upstreamPort: number },
): Promise<Peer[]> {
  const port = await unusedPort()
  const http = `access_log off;
    upstream api { server 127.0.0.1:${upstreamPort}; keepalive 128; }
    upstream intercept { server 127.0.0.1:${node.port}; keepalive 128; }`
  const location = `location / { auth_request /auth; proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-API-Key ""; }
    location = /auth { internal; proxy_pass http://intercept/api/v1/intercept/-/check?target=api; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_pass_request_body off; proxy_set_header Content-Length "";
      proxy_set_header X-Original-URI $request_uri; proxy_set_header X-Original-Method $request_method; }`
  const name = 'nginx auth_request'
  const asking = await startNginxWith(nginx, folder, { name, port, http, location })
  const { key } = node
  return [
    {
      ...{ ...node, name: 'Intercept /-/check', kind: 'check' as const },
      ...{ prefix: '/api/v1/intercept/-/check/api', end: async () => {} },
    },
    { ...asking, kind: 'auth_request', key, besides: [node.pid] },
  ]
}

/** Mints a well-formed key that is never issued: only a look-up shows that it is unknown. */
function neverIssued(key: string): string {
  const [prefix = ''] = /^[a-z]+_[a-z]+_/.exec(key) ?? []
  return mintCredential(prefix).secret.reveal()
}

async function startNginxWith(
  nginx: string,
  folder: string,
  given: { name: string; port: number; http: string; location: string },
): Promise<Peer> {
  const { name, port, http, location } = given
  const config = join(folder, `nginx-${port}.conf`)
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/nginx-${port}.pid; error_log ${folder}/nginx-${port}.log;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; client_body_temp_path ${folder}/body-${port};
  proxy_temp_path ${folder}/proxy-${port}; fastcgi_temp_path ${folder}/f-${port};
  uwsgi_temp_path ${folder}/u-${port}; scgi_temp_path ${folder}/s-${port};
  ${http}
  server { listen 127.0.0.1:${port}; ${location} }
}
`,
  )
  const child = await startPeer(nginx, ['-c', config, '-p', folder], port)
  // The main process listens before it starts its worker, which `pin` must find.
  const deadline = performance.now() + 10_000
  while (childrenOf(child.pid ?? 0).length === 0) {
    if (performance.now() > deadline) throw new Error('nginx starts no worker')
    await setTimeout(10)
  }
  return {
    ...{ name, kind: 'proxy' as const, port, pid: child.pid ?? 0, prefix: '', key: '' },
    end: async () => void child.kill('SIGTERM'),
  }
}

function freshKey(): string {
  return `svc_live_${randomBytes(6).toString('hex')}_${randomBytes(24).toString('hex')}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
