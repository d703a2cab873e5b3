import type { Acceptor, AddressInfo, Socket } from '../../http/index.ts'
import type { FromSupervisor, FromWorker } from './port-messages.ts'

/** The supervisor spreads new connections by the number of open ones, which it learns this many milliseconds late. */
const reportsAfterMs = 20

/** Runs in a worker: takes the connections that the supervisor accepts for it. */
export class SupervisorAcceptor implements Acceptor {
  #closed = 0

  async listen(
    where: { readonly host: string; readonly port: number },
    take: (socket: Socket) => void,
  ): Promise<AddressInfo> {
    process.on('message', (message, socket) => {
      if ((message as FromSupervisor).kind !== 'intercept:connection') return
      if (socket === undefined) this.closed()
      else take(socket as Socket)
    })
    const answer = await ask({ kind: 'intercept:listen', ...where }, [
      'intercept:listening',
      'intercept:not-listening',
    ])
    if (answer?.kind === 'intercept:listening') return answer.address
    if (answer?.kind !== 'intercept:not-listening') throw new Error('The supervisor has exited.')
    const { message, ...facts } = answer.error
    throw Object.assign(new Error(message), facts)
  }

  closed(): void {
    if (this.#closed++ > 0) return
    setTimeout(() => {
      tell({ kind: 'intercept:closed', count: this.#closed })
      this.#closed = 0
    }, reportsAfterMs).unref()
  }

  async stop(): Promise<void> {
    await ask({ kind: 'intercept:stop' }, ['intercept:stopped'])
  }
}

function tell(message: FromWorker): void {
  // The supervisor may have exited by now; Node then ends the channel.
  if (process.connected) process.send?.(message)
}

/** Resolves with the first message of one of these kinds; with undefined if the supervisor has exited. */
async function ask(
  message: FromWorker,
  kinds: readonly FromSupervisor['kind'][],
): Promise<FromSupervisor | undefined> {
  if (!process.connected) return undefined
  const { promise, resolve } = Promise.withResolvers<FromSupervisor | undefined>()
  const onMessage = (answer: FromSupervisor): void => {
    if (kinds.includes(answer.kind)) resolve(answer)
  }
  const onDisconnect = (): void => resolve(undefined)
  process.on('message', onMessage).on('disconnect', onDisconnect)
  tell(message)
  const answer = await promise
  process.off('message', onMessage).off('disconnect', onDisconnect)
  return answer
}
