import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const maxWaiting = 4096
const itemsInBatch = 512
const everyMs = 1000

/** Queues items and sends them in the background; those that don't fit or can't be sent are dropped and counted. */
export interface LossySender<T> extends AsyncDisposable {
  /** Queues an item, or drops it if too many are queued already. */
  add(item: T): void
}

/** `post` has its own deadline and throws on failure. */
export function createLossySender<T>(deps: {
  readonly post: (body: string) => Promise<void>
  readonly render: (items: readonly T[]) => string
  /** The counter of dropped items, and the log message about them. */
  readonly dropped: ReturnType<Metrics['counter']>
  readonly warning: string
  readonly log: Pick<Log, 'warn'>
}): LossySender<T> {
  const { dropped } = deps
  let waiting: T[] = []
  let sending: Promise<void> | undefined
  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()

  /**
   * Sends all waiting items; if a batch fails, it and the items behind it are dropped, so that an unreachable collector
   * costs no more memory.
   */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsInBatch)
      waiting = waiting.slice(batch.length)
      try {
        await deps.post(deps.render(batch))
      } catch (err) {
        dropped.add(undefined, batch.length + waiting.length)
        waiting = []
        deps.log.warn({ err }, deps.warning)
      }
    }
  }

  async function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    await sending
  }

  return {
    add(item) {
      if (waiting.length >= maxWaiting) dropped.add()
      else waiting.push(item)
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
      await flush()
    },
  }
}
