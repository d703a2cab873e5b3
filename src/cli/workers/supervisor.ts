import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../../config.ts'
import { freePort } from '../../http/index.ts'
import type { Log } from '../../telemetry/index.ts'
import { minuteMs } from '../../units.ts'
import type { Terminal } from '../lib/terminal.ts'
import { listenForWorkers } from './reports.ts'
import { SharedPort } from './shared-port.ts'

/**
 * Delays before a worker is started again. They grow while its starts keep failing, and begin anew once a start has
 * succeeded.
 */
const pausesSeconds = [1, 2, 4, 8, 16, 32, 60] as const

/**
 * Runs `WORKERS` processes that share one port, until this process is stopped. Each of them is a node of its own; this
 * process serves METRICS_PORT for all of them.
 */
export async function superviseWorkers(
  config: Config,
  terminal: Terminal,
  log: Log,
): Promise<void> {
  const port = config.port === 0 ? await freePort(config.host) : config.port
  const sharedPort = new SharedPort(warnOfLostConnections(log))
  const living = new Map<number, Worker>()
  const pauses = new Set<NodeJS.Timeout>()
  let isStopping = false

  const startWorker = (index: number, failedBefore: number): void => {
    const worker = cluster.fork({ PORT: String(port), METRICS_PORT: 'off' })
    living.set(index, worker)
    let hasListened = false
    sharedPort.serve(worker, () => (hasListened = true))
    worker.once('exit', (code, signal) => {
      living.delete(index)
      if (isStopping) return
      const failed = hasListened ? 0 : failedBefore
      const seconds = pausesSeconds[failed] ?? 60
      log.error(
        { worker: index, code, signal },
        `A worker ${hasListened ? 'has died' : 'could not start'}; it is started again in ${seconds} s`,
      )
      const pause = setTimeout(() => {
        pauses.delete(pause)
        startWorker(index, failed + 1)
      }, seconds * 1000)
      pauses.add(pause)
    })
  }
  await using listening = new AsyncDisposableStack()
  if (config.metricsPort !== undefined) {
    const { host, metricsPort } = config
    const workers = () => living.values()
    listening.use(await listenForWorkers({ host, port: metricsPort, workers }))
  }
  for (let index = 0; index < config.workers; index++) startWorker(index, 0)
  log.info({ workers: config.workers }, 'Workers are starting')

  await terminal.untilStopped()
  isStopping = true
  for (const pause of pauses) clearTimeout(pause)
  await Promise.all(
    [...living.values()].map(async (worker) => {
      worker.process.kill('SIGTERM')
      await once(worker, 'exit')
    }),
  )
}

/** Returns a function that logs, at most once a minute, that connections were lost. */
function warnOfLostConnections(log: Log): () => void {
  let lost = 0
  let isWaiting = false
  return () => {
    lost++
    if (isWaiting) return
    isWaiting = true
    log.warn({}, 'A connection was closed because no worker could take it')
    setTimeout(() => {
      isWaiting = false
      if (lost > 1) log.warn({ lost }, 'Connections were closed because no worker could take them')
      lost = 0
    }, minuteMs).unref()
  }
}
