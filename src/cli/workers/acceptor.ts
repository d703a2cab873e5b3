import type { Acceptor, AddressInfo, Socket } from '../../http/index.ts'
import type { FromSupervisor, FromWorker } from './port-messages.ts'

/**
 * How long connections that close are collected before they are reported, in milliseconds; until then, the supervisor
 * counts them as open.
 */
const reportsAfterMs = 20
/** The supervisor's answer may take as long as a port that is about to close. */
const answerWithinMs = 5000

/** Runs in a worker: takes the connections that the supervisor accepts for it. */
export class SupervisorAcceptor implements Acceptor {
  #open = 0
  /** The number of the connection that was received last. */
  #last = 0
  #isReporting = false

  async listen(
    where: { readonly host: string; readonly port: number },
    take: (socket: Socket) => void,
  ): Promise<AddressInfo> {
    process.on('message', (message: FromSupervisor, socket: unknown) => {
      if (message.kind !== 'intercept:connection') return
      this.#last = message.number
      this.#open++
      if (socket === undefined) this.closed()
      else take(socket as Socket)
    })
    const answer = await ask({ kind: 'intercept:listen', ...where }, [
      'intercept:listening',
      'intercept:not-listening',
    ])
    if (answer?.kind === 'intercept:listening') return answer.address
    if (answer?.kind !== 'intercept:not-listening') {
      throw new Error(`The supervisor did not answer within ${answerWithinMs / 1000} s.`)
    }
    const { message, ...facts } = answer.error
    throw Object.assign(new Error(message), facts)
  }

  closed(): void {
    this.#open--
    if (this.#isReporting) return
    this.#isReporting = true
    setTimeout(() => {
      this.#isReporting = false
      tell({ kind: 'intercept:open', open: this.#open, last: this.#last })
    }, reportsAfterMs).unref()
  }

  async stop(): Promise<void> {
    await ask({ kind: 'intercept:stop' }, ['intercept:stopped'])
  }
}

function tell(message: FromWorker): void {
  // The supervisor may have exited by now; without a callback, the message would end this process.
  process.send?.(message, undefined, {}, () => {})
}

/**
 * Resolves with the first message of one of these kinds; with undefined if none comes in time, or if the supervisor has
 * exited.
 */
async function ask(
  message: FromWorker,
  kinds: readonly FromSupervisor['kind'][],
): Promise<FromSupervisor | undefined> {
  if (!process.connected) return undefined
  const { promise, resolve } = Promise.withResolvers<FromSupervisor | undefined>()
  const onMessage = (answer: FromSupervisor): void => {
    if (kinds.includes(answer.kind)) resolve(answer)
  }
  const giveUp = (): void => resolve(undefined)
  process.on('message', onMessage).on('disconnect', giveUp)
  const deadline = setTimeout(giveUp, answerWithinMs)
  tell(message)
  const answer = await promise
  clearTimeout(deadline)
  process.off('message', onMessage).off('disconnect', giveUp)
  return answer
}
