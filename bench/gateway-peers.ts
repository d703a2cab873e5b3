// What stands beside us in the benchmark of the guarded call, each configured to do the same job as well as it can.
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServerProcess } from '../test/harness/server-process.ts'
import { intercept } from '../test/harness/terminal.ts'
import { startPeer, unusedPort } from './processes.ts'

/** Something that lets calls with a good key through to the same upstream. */
export interface Peer {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly path: string
  readonly key: string
  end(): Promise<void>
}

const keysInMap = 100_000
const answer = 'x'.repeat(1024)

/** The upstream of all of them: an nginx that answers 1 KB. */
export async function startUpstream(nginx: string, folder: string): Promise<Peer> {
  const port = await unusedPort()
  const location = `location / { client_max_body_size 0; default_type text/plain; return 200 "${answer}"; }`
  return await startNginxWith(nginx, folder, { name: 'upstream', port, http: '', location })
}

/** nginx with a map of 100,000 keys: 401 unless the key is in it. */
export async function startNginx(
  nginx: string,
  folder: string,
  given: { upstreamPort: number; accessLog: boolean },
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
    upstream api { server 127.0.0.1:${given.upstreamPort}; keepalive 128; }
    ${given.accessLog ? `access_log ${home}/access.log;` : 'access_log off;'}`
  const location = `location / { if ($known = 0) { return 401; } proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-API-Key ""; }`
  return { ...(await startNginxWith(nginx, folder, { name, port, http, location })), key }
}

/** HAProxy that looks up the SHA-256 of the key in a map of 100,000. */
export async function startHaproxy(
  haproxy: string,
  folder: string,
  upstreamPort: number,
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
  default_backend api
backend api
  http-reuse always
  server api 127.0.0.1:${upstreamPort}
`,
  )
  const child = await startPeer(haproxy, ['-db', '-f', config], port)
  return {
    ...{ name: 'HAProxy SHA-256 map', port, pid: child.pid ?? 0, path: '/items/7?full=1', key },
    end: async () => void child.kill('SIGKILL'),
  }
}

/** Intercept as an operator starts it: rules, rates of key and target, records. */
export async function startIntercept(folder: string, upstreamPort: number): Promise<Peer> {
  const env = { DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'info', HOST: '127.0.0.1' }
  const server = await startServerProcess(env)
  const { port } = new URL(server.baseUrl)
  const run = async (...words: string[]): Promise<Record<string, unknown>> => {
    const done = await intercept([...words, '--json'], { env: { ...env, PORT: port } })
    if (done.code !== 0) throw new Error(done.err)
    return JSON.parse(done.out) as Record<string, unknown>
  }
  await run('org', 'create', 'bench')
  const rules = ['deny DELETE /admin/*', 'deny * /internal/*', 'allow * /items/*'].flatMap(
    (rule) => ['--rule', rule],
  )
  const upstream = `http://127.0.0.1:${upstreamPort}`
  await run(
    'target',
    'set',
    'bench',
    'api',
    '--upstream',
    upstream,
    '--rate',
    '1000000/s',
    ...rules,
  )
  const { secret } = await run('key', 'issue', 'bench', '--name', 'bench', '--rate', '1000000/s')
  return {
    name: 'Intercept',
    port: Number(port),
    pid: server.pid,
    path: '/api/v1/intercept/api/items/7?full=1',
    key: String(secret),
    end: async () => await server[Symbol.asyncDispose](),
  }
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
  return {
    ...{ name, port, pid: child.pid ?? 0, path: '/items/7?full=1', key: '' },
    end: async () => void child.kill('SIGTERM'),
  }
}

function freshKey(): string {
  return `svc_live_${randomBytes(6).toString('hex')}_${randomBytes(24).toString('hex')}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
