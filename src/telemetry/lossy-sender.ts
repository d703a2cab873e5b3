import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const maxWaiting = 4096
const itemsInBatch = 512
const everyMs = 1000

/** Takes items and sends them when it gets round to it; what does not fit or fails is dropped and counted. */
export interface LossySender<T> extends AsyncDisposable {
  /** Never waits. */
  add(item: T): void
}

/** A sender whose losses cost neither memory nor a call. `post` has a deadline of its own and throws when it fails. */
export function createLossySender<T>(deps: {
  readonly post: (body: string) => Promise<void>
  readonly render: (items: readonly T[]) => string
  /** The counter of what was dropped, and the sentence that the log says of it. */
  readonly dropped: ReturnType<Metrics['counter']>
  readonly warning: string
  readonly log: Pick<Log, 'warn'>
}): LossySender<T> {
  const { dropped } = deps
  let waiting: T[] = []
  let sending: Promise<void> | undefined
  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()

  /** A collector that is away must not fill our memory. */
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
