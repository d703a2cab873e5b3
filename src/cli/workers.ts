import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../config.ts'
import { freePort } from '../http/index.ts'
import type { Log } from '../log/index.ts'
import type { Terminal } from './terminal.ts'

/** A worker that dies is replaced, but not faster than this. */
const replaceAfterMs = 1000

/**
 * Runs `WORKERS` processes that share one port until somebody stops this one. Each is a node of its own and has its
 * own metrics listener: METRICS_PORT, METRICS_PORT + 1, …
 */
export async function superviseWorkers(
  config: Config,
  terminal: Terminal,
  log: Log,
): Promise<void> {
  const port = config.port === 0 ? await freePort(config.host) : config.port
  const living = new Map<number, Worker>()
  let isStopping = false

  const startWorker = (index: number): void => {
    const metricsPort =
      config.metricsPort === undefined ? {} : { METRICS_PORT: String(config.metricsPort + index) }
    const worker = cluster.fork({ PORT: String(port), ...metricsPort })
    living.set(index, worker)
    worker.once('exit', (code, signal) => {
      living.delete(index)
      if (isStopping) return
      log.error({ worker: index, code, signal }, 'A worker has died and is replaced')
      setTimeout(() => {
        if (!isStopping) startWorker(index)
      }, replaceAfterMs)
    })
  }
  for (let index = 0; index < config.workers; index++) startWorker(index)
  log.info({ workers: config.workers }, 'Workers are starting')

  await terminal.untilStopped()
  isStopping = true
  await Promise.all(
    [...living.values()].map(async (worker) => {
      worker.process.kill('SIGTERM')
      await once(worker, 'exit')
    }),
  )
}
