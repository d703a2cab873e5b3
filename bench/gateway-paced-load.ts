// The process of gateway-paced.ts, as the benchmark uses it.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { PacedOrder, PacedSeen } from './gateway-paced.ts'
import { startWatch } from './machine.ts'
import { pinned, unusedPort } from './processes.ts'

/** How long calls go before those that are measured, so that new connections are not measured. */
export const pacedWarmUpMs = 500

/**
 * The load collects garbage often, for 0.1 ms each time, and on its own thread: V8's other threads would take turns of up
 * to 4 ms on the core that they share with the load, and stop it for up to 8 ms.
 */
const flags = ['--expose-gc', '--single-threaded-gc', '--max-semi-space-size=4']

export interface PacedLoad {
  /** The port on which it is the upstream of its own calls. */
  readonly port: number
  /**
   * Calls a peer, and watches the machine meanwhile; one order at a time. Throws if the process ended, which then wrote
   * the reason to stderr.
   */
  offer(order: PacedOrder): Promise<PacedSeenOnMachine>
  end(): void
}

export interface PacedSeenOnMachine extends PacedSeen {
  /** When a core of the machine was slow or `kdamond` held one, in milliseconds of `monotonicMs`. */
  readonly disturbedAtMs: readonly number[]
}

/** Starts the process on the load's cores; it waits for orders. */
export async function startPacedLoad(): Promise<PacedLoad> {
  const port = await unusedPort()
  const file = join(import.meta.dirname, 'gateway-paced.ts')
  const [program = '', ...words] = pinned('load', [process.execPath, ...flags, file, String(port)])
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const watch = startWatch()
  return {
    port,
    offer: async (order) => {
      watch.begin()
      child.stdin.write(`${JSON.stringify(order)}\n`)
      const { done, value } = await lines.next()
      if (done === true) throw new Error('the load at a fixed rate ended')
      return { ...(JSON.parse(value) as PacedSeen), disturbedAtMs: await watch.end() }
    },
    end: () => {
      watch.stop()
      child.kill('SIGKILL')
    },
  }
}
