// Runs the samples in deploy/proxies. They are changed only as far as a test needs: plain HTTP, ports and files of the
// test, and several nodes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProxy, type ProxyProgram } from './proxy-program.ts'

const samples = join(import.meta.dirname, '..', '..', 'deploy', 'proxies')

export interface SamplePorts {
  /** The port of the proxy, which is in front of Intercept or, with forward-auth, in front of the upstream. */
  readonly proxy: number
  /** nginx's sample has both uses in one file; its forward-auth proxy listens here. */
  readonly other: number
  /** The port of one node, or the ports of several that share the calls; Caddy calls only the first one. */
  readonly intercept: number | readonly number[]
  readonly upstream: number
}

export function readSample(name: string): string {
  return readFileSync(join(samples, name), 'utf8')
}

function nodesOf(intercept: SamplePorts['intercept']): readonly number[] {
  return typeof intercept === 'number' ? [intercept] : intercept
}

/** Makes a line for each node of the test from the sample's line for its one node. */
function perNode(line: string, intercept: SamplePorts['intercept']): string {
  return nodesOf(intercept)
    .map((port, at) => line.replace('8080', String(port)).replace('node1', `node${at + 1}`))
    .join('\n')
}

/**
 * Starts nginx with both servers of the sample: the one in front of Intercept listens on port `proxy`, the one with
 * forward-auth on port `other`.
 */
export async function startNginx(ports: SamplePorts): Promise<ProxyProgram> {
  let listeners = 0
  const servers = readSample('nginx.conf')
    .replaceAll(/listen 443 ssl;/g, () => {
      listeners += 1
      return `listen 127.0.0.1:${listeners === 1 ? ports.proxy : ports.other};`
    })
    .replaceAll(/^ *ssl_certificate.*$/gm, '')
    .replace(/^ *server 127\.0\.0\.1:8080;$/m, (line) => perNode(line, ports.intercept))
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${ports.upstream}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path {folder}/${kind};`,
  )
  return await startProxy({
    program: 'nginx',
    port: ports.proxy,
    fileName: 'nginx.conf',
    configuration: `daemon off; master_process off; worker_processes 1; pid {folder}/pid; error_log stderr;
events { worker_connections 1024; }
http { access_log off; ${temporary.join(' ')}
${servers}
}`,
    args: ['-c', '{file}', '-p', '{folder}'],
  })
}

export async function startCaddy(
  sample: 'Caddyfile' | 'check.Caddyfile',
  ports: Omit<SamplePorts, 'other'>,
): Promise<ProxyProgram> {
  const site = `http://:${ports.proxy}`
  return await startProxy({
    program: 'caddy',
    port: ports.proxy,
    fileName: 'Caddyfile',
    configuration: `{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1\n}\n${readSample(
      sample,
    )
      .replaceAll('intercept:8080', `127.0.0.1:${nodesOf(ports.intercept)[0]}`)
      .replaceAll('my-api:3000', `127.0.0.1:${ports.upstream}`)}`,
    args: ['run', '--config', '{file}', '--adapter', 'caddyfile'],
    env: { HOST_NAME: site, API_HOST_NAME: site },
  })
}

export async function startHaproxy(ports: Omit<SamplePorts, 'other'>): Promise<ProxyProgram> {
  return await startProxy({
    program: 'haproxy',
    port: ports.proxy,
    fileName: 'haproxy.cfg',
    configuration: readSample('haproxy.cfg')
      .replace(/bind :443 ssl crt \S+/, `bind 127.0.0.1:${ports.proxy}`)
      .replace(/^ *server node1 127\.0\.0\.1:8080$/m, (line) => perNode(line, ports.intercept)),
    args: ['-db', '-f', '{file}'],
  })
}
