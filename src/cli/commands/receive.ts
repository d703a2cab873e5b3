import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createOutbound, type Outbound } from '../../http/index.ts'
import { verifyDelivery } from '../../webhooks/index.ts'
import { command, readWhole, UsageError, type Answer } from '../lib/command.ts'
import { printableInLine } from '../lib/terminal.ts'
import { nodeHttp } from '../../http/message/index.ts'

const maxBody = 1024 * 1024
const forwardMs = 15_000

interface Arrival {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export const commands = {
  '': command({
    usage: '[--port 9000] [--secret-stdin] [--forward URL] [--show-body]',
    about:
      'receive webhooks on this machine: prints each delivery with "verified" or why not; answers 204, 400, or what --forward answers',
    options: {
      port: {
        type: 'string',
        default: '9000',
        value: 'PORT',
        about: 'where to listen on this machine; 0 takes any free port',
      },
      'secret-stdin': { type: 'boolean', about: 'verify with the secret on standard input' },
      forward: {
        type: 'string',
        value: 'URL',
        about: 'pass verified deliveries on to an application',
      },
      'show-body': { type: 'boolean', about: 'print the bodies too' },
    },
    local: { because: 'it listens on this machine', standsAlone: true },
    examples: ['intercept webhook secret acme | intercept receive --port 9000 --secret-stdin'],
    run: async ({ values }, terminal, say) => {
      const port = readWhole('--port', values.port, { max: 65_535, min: 0 })
      const secret = values['secret-stdin'] === true ? firstLine(await terminal.readInput()) : ''
      if (values['secret-stdin'] === true && !/^(svc_)?whsec_/.test(secret)) {
        throw new UsageError('Standard input must hold a secret that starts with svc_whsec_')
      }
      // Deliveries are forwarded to the developer's own machine, so loopback must be allowed.
      await using outbound = createOutbound({ allowLoopback: true })
      if (values.forward !== undefined) outbound.checkUrl(values.forward)

      const server = nodeHttp.createServer((request, response) => {
        void (async () => {
          const arrival = await read(request)
          if (!arrival) {
            response.writeHead(413).end()
            return
          }
          const wrong = secret === '' ? undefined : check(arrival, secret)
          // With a secret, only requests that Intercept signed are forwarded to the application.
          const forwarded =
            wrong === undefined ? await forward(outbound, values.forward, arrival) : undefined
          const verdict = secret === '' ? 'unverified' : (wrong ?? 'verified')
          say(
            renderArrival(arrival, { verdict, forwarded, showBody: values['show-body'] === true }),
          )
          response.writeHead(wrong === undefined ? (forwarded ?? 204) : 400).end()
        })().catch((error: unknown) => {
          terminal.complain(error instanceof Error ? error.message : 'failed')
          response.destroy()
        })
      })
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const { port: actual } = server.address() as { port: number }
      const url = `http://127.0.0.1:${actual}/`
      say({ data: { url }, text: `Receiving at ${url} until Ctrl+C.` })
      await terminal.untilStopped()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      return undefined
    },
  }),
}

/** Reads the whole body; undefined if it is too large to be a delivery. */
async function read(request: IncomingMessage): Promise<Arrival | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBody) return undefined
    chunks.push(chunk)
  }
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = [value].flat().join(', ')
  }
  return { headers, body: Buffer.concat(chunks) }
}

function check(arrival: Arrival, secret: string): string | undefined {
  const whole = secret.startsWith('svc_') ? secret : `svc_${secret}`
  return verifyDelivery(arrival, whole, Date.now())
}

/** Forwards a delivery with its body and signature headers unchanged. */
async function forward(
  outbound: Outbound,
  url: string | undefined,
  { headers, body }: Arrival,
): Promise<number | undefined> {
  if (url === undefined) return undefined
  const kept = Object.entries(headers).filter(([name]) =>
    /^(content-type|user-agent|webhook-.*|intercept-.*|authorization|x-.*)$/.test(name),
  )
  try {
    const answer = await outbound.request({
      url,
      method: 'POST',
      headers: Object.fromEntries(kept),
      body,
      deadlineMs: forwardMs,
      maxResponseBytes: maxBody,
    })
    return answer.status
  } catch {
    return 502
  }
}

function renderArrival(
  arrival: Arrival,
  how: { verdict: string; forwarded: number | undefined; showBody: boolean },
): Answer {
  const { verdict, forwarded, showBody } = how
  const body = arrival.body.toString('utf8')
  return {
    data: {
      at: new Date().toISOString(),
      id: arrival.headers['webhook-id'] ?? null,
      type: typeOf(arrival.body),
      verdict,
      forwarded: forwarded ?? null,
      ...(showBody && { body }),
    },
    text: [
      lineOf(arrival, verdict, forwarded),
      ...(showBody ? body.split('\n').map(printableInLine) : []),
    ].join('\n'),
  }
}

function lineOf(arrival: Arrival, verdict: string, forwarded: number | undefined): string {
  const time = new Date().toISOString().slice(11, 19)
  const type = typeOf(arrival.body)
  const id = arrival.headers['webhook-id'] ?? '–'
  const passed = forwarded === undefined ? '' : `  forwarded: ${forwarded}`
  return printableInLine(`${time}  ${type.padEnd(28)}${verdict}  ${id}${passed}`)
}

function typeOf(body: Buffer): string {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as { type?: unknown } | null
    return typeof parsed?.type === 'string' ? parsed.type : '(no type)'
  } catch {
    return '(no JSON)'
  }
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.trim() ?? ''
}
