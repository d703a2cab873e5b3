import type { Server } from 'node:net'

const everyMs = 2000
/** The longest time a timer of Node can wait: 24.8 days. */
const neverMs = 2 ** 31 - 1

/**
 * Makes node:http look for late callers only while it has connections. Otherwise, its timer would wake an idle process
 * every two seconds.
 */
export class LateChecks {
  readonly #server: Server
  /** Node's own function that starts its timer anew, with the interval of that moment. */
  readonly #restart: (() => void) | undefined
  #connections = 0
  #isOn = false

  constructor(server: Server) {
    this.#server = server
    const [restart] = server.listeners('listening')
    this.#restart = restart?.bind(server)
    if (this.#restart === undefined) return
    Object.assign(server, { connectionsCheckingInterval: neverMs })
  }

  opened(): void {
    this.#connections++
    if (!this.#isOn) this.#set(true)
  }

  closed(): void {
    this.#connections--
  }

  /** Turns the checks off if there are no connections; to be called from time to time. */
  rest(): void {
    if (this.#isOn && this.#connections === 0) this.#set(false)
  }

  #set(isOn: boolean): void {
    this.#isOn = isOn
    Object.assign(this.#server, { connectionsCheckingInterval: isOn ? everyMs : neverMs })
    this.#restart?.()
  }
}
