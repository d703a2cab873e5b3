/** Workers report their state to the supervisor, so that one listener can respond for all of them. */
import type { Worker } from 'node:cluster'
import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { CountedOfWorkers, renderFamilies, type MetricFamily } from '../../telemetry/index.ts'
import { nodeHttp } from '../../http/message/index.ts'

export interface NodeReport {
  readonly isReady: boolean
  readonly state: string
  readonly families: readonly MetricFamily[]
}

const question = 'intercept:report'
const answerWithinMs = 3000

/** Runs in a worker: answers the supervisor's questions. */
export function reportToSupervisor(report: () => Promise<NodeReport>): void {
  process.on('message', (message: unknown) => {
    if (isQuestion(message)) void answer(message.id, report)
  })
}

async function answer(id: number, report: () => Promise<NodeReport>): Promise<void> {
  const status = await report()
  // The supervisor may have exited by now.
  if (process.connected) process.send?.({ kind: question, id, answer: status })
}

/** Returns the workers' reports by worker id, without workers that did not answer in time. */
async function askWorkers(workers: readonly Worker[]): Promise<ReadonlyMap<number, NodeReport>> {
  const reports = new Map<number, NodeReport>()
  await Promise.all(
    workers.map(async (worker) => {
      const report = await ask(worker)
      if (report !== undefined) reports.set(worker.id, report)
    }),
  )
  return reports
}

let lastId = 0

async function ask(worker: Worker): Promise<NodeReport | undefined> {
  const id = ++lastId
  return await new Promise((resolve) => {
    const end = (answer?: NodeReport): void => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      resolve(answer)
    }
    const onExit = (): void => end()
    const onMessage = (message: unknown): void => {
      // Only our own worker knows the id of the question, so its answer has the right type.
      if (isQuestion(message) && message.id === id) {
        end((message as unknown as { answer: NodeReport }).answer)
      }
    }
    const timer = setTimeout(end, answerWithinMs)
    worker.on('message', onMessage)
    worker.on('exit', onExit)
    worker.send({ kind: question, id }, (error) => error && end())
  })
}

function isQuestion(message: unknown): message is { readonly id: number } {
  return (message as { kind?: unknown } | null)?.kind === question
}

/** Serves `/metrics`, `/healthz` and `/readyz` for all workers, until it is closed. */
export async function listenForWorkers(options: {
  readonly host: string
  readonly port: number
  readonly workers: () => Iterable<Worker>
}): Promise<AsyncDisposable> {
  const counted = new CountedOfWorkers()
  const server = nodeHttp.createServer((request, response) => {
    const workers = [...options.workers()]
    const [path] = (request.url ?? '').split('?', 1)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead) send(response, 405, 'method not allowed\n')
    else if (path === '/healthz') send(response, 200, 'ok\n')
    else if (path === '/readyz') void sendReadiness(response, workers)
    else if (path === '/metrics') void sendMetrics(response, workers, counted)
    else send(response, 404, 'not found\n')
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function sendMetrics(
  response: ServerResponse,
  asked: readonly Worker[],
  counted: CountedOfWorkers,
): Promise<void> {
  const reports = await askWorkers(asked)
  const workers: MetricFamily = {
    name: 'intercept_workers',
    help: 'Worker processes that answered this scrape.',
    type: 'gauge',
    across: 'sum',
    samples: [['', reports.size]],
  }
  const families = new Map([...reports].map(([id, report]) => [id, report.families]))
  const living = new Set(asked.filter((worker) => !worker.isDead()).map(({ id }) => id))
  const merged = counted.merge(families, living)
  const text = renderFamilies([workers, ...merged])
  response.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  response.writeHead(200).end(text)
}

/**
 * Sends 200 if at least one worker answers and all that answer are ready: they share the port, so any of them may get
 * the next request.
 */
async function sendReadiness(response: ServerResponse, asked: readonly Worker[]): Promise<void> {
  const reports = [...(await askWorkers(asked)).values()]
  const against = reports.find(({ isReady }) => !isReady)
  const state = reports.length === 0 ? 'starting' : (against?.state ?? 'ready')
  send(response, state === 'ready' ? 200 : 503, `${state}\n`)
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text)
}
