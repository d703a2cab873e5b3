import cluster, { type Worker } from 'node:cluster'
import { flushCompileCache } from 'node:module'
import { readConfig, remarks, suspicions, type Config } from '../../config.ts'
import { createLog, type Log } from '../../telemetry/index.ts'
import type { Running } from '../../main.ts'
import { command } from '../lib/command.ts'
import { startGivingMemoryBack } from '../lib/idle-memory.ts'
import type { Terminal } from '../lib/terminal.ts'
import { letV8YieldToCalls } from '../lib/v8-threads.ts'
import { SupervisorAcceptor } from '../workers/acceptor.ts'
import { reportToSupervisor } from '../workers/reports.ts'
import { superviseWorkers } from '../workers/supervisor.ts'

export const commands = {
  '': command({
    usage: '',
    about: 'run a node until SIGTERM; open requests then finish, and nothing is dropped',
    local: { because: 'it is the node' },
    examples: [
      'intercept serve',
      'PORT=8081 DATABASE_URL=postgres://intercept@db/intercept intercept serve',
    ],
    run: async (_call, terminal) => {
      const config = readConfig(terminal.env)
      const log = createLog({ level: config.logLevel, pretty: terminal.isPerson })
      if (cluster.isPrimary) for (const doubt of suspicions(terminal.env)) log.warn({}, doubt)
      if (config.workers > 1 && cluster.isPrimary) await superviseWorkers(config, terminal, log)
      else {
        try {
          await serve(config, terminal, log)
        } finally {
          if (cluster.worker) letGo(cluster.worker)
        }
      }
      return undefined
    },
  }),
}

const endsWithinMs = 2000

/**
 * Closes the worker's channel to the supervisor: an open channel would keep the worker alive even if its start failed.
 */
function letGo(worker: Worker): void {
  endByOneself(worker)
  if (process.connected) process.disconnect()
  setTimeout(() => process.exit(), endsWithinMs).unref()
}

/** Otherwise, Node would end the worker with code 0 as soon as its channel to the supervisor is closed. */
function endByOneself(worker: Worker): void {
  worker.exitedAfterDisconnect = true
}

async function serve(config: Config, terminal: Terminal, log: Log): Promise<void> {
  const stopped = cluster.isWorker
    ? Promise.race([terminal.untilStopped(), untilOrphaned()])
    : terminal.untilStopped()
  // The module is imported here, because the supervisor of several workers does not need it.
  const { start } = await import('../../main.ts')
  const acceptor = cluster.isWorker ? new SupervisorAcceptor() : undefined
  const running = await start(config, { log, acceptor })
  letV8YieldToCalls()
  // If the supervisor is killed, open requests finish first, as with SIGTERM.
  if (cluster.worker) endByOneself(cluster.worker)
  if (cluster.isWorker) reportToSupervisor(async () => await running.report())
  for (const remark of remarks(config)) log.info({}, remark)
  if (!cluster.isWorker || cluster.worker?.id === 1) {
    await printSetupLink(running, log)
  }
  // The compile cache is written now rather than at exit, because a process that is killed writes none.
  flushCompileCache()
  const givingBack = startGivingMemoryBack((err) => log.warn({ err }, 'no memory was given back'))
  await stopped
  await givingBack[Symbol.asyncDispose]()
  log.info({}, 'Stopping: open requests finish first')
  await running[Symbol.asyncDispose]()
}

async function printSetupLink(running: Running, log: Log): Promise<void> {
  try {
    const url = await running.setupLink()
    if (url !== undefined) log.info({ url }, 'Nobody is here yet: this link makes the first owner')
  } catch (err) {
    log.warn({ err }, 'The setup link could not be made; `intercept setup-link` prints one')
  }
}

/** Resolves when the supervisor has exited, so that this worker stops too instead of running on unnoticed. */
async function untilOrphaned(): Promise<void> {
  await new Promise<void>((resolve) => process.once('disconnect', () => resolve()))
}
