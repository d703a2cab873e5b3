import type { Server } from 'node:net'

const everyMs = 2000
/** The longest time a timer of Node can wait: 24.8 days. */
const neverMs = 2 ** 31 - 1

/**
 * Lets node:http look for late callers only while it has connections; otherwise, its timer would wake an idle process
 * every two seconds.
 */
export class LateChecks {
  readonly #server: Server
  /** Node's own function that restarts its timer with the current interval. */
  readonly #restart: (() => void) | undefined
  #connections = 0
  #isOn = false

  constructor(server: Server) {
    this.#server = server
    const restart = server
      .listeners('listening')
      .find((listener) => listener.name === 'setupConnectionsTracking')
    this.#restart = restart?.bind(server)
    // A Node without that function always checks.
    const intervalMs = restart === undefined ? everyMs : neverMs
    Object.assign(server, { connectionsCheckingInterval: intervalMs })
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
