import type pg from 'pg'
import type { ServerMark } from '../../db/db.ts'
import { greetServer } from './greeting.ts'

/** Tracks which server each connection leads to, and closes connections to a server that has been replaced. */
export class ServerWatch {
  readonly #servers = new Map<pg.ClientBase, ServerMark>()
  #current: ServerMark | undefined
  #onOther: () => void = () => undefined

  /**
   * Registers a callback that runs when a connection reaches a different server than before, or the same one after a
   * restart.
   */
  onOther(call: () => void): void {
    this.#onOther = call
  }

  /** Checks the server behind a new connection; throws if it must not be used. */
  async greet(client: pg.ClientBase): Promise<void> {
    const server = await greetServer(client)
    this.#servers.set(client, server)
    client.once('end', () => this.#servers.delete(client))
    const before = this.#current
    this.#current = server
    if (before === undefined || isSame(before, server)) return
    for (const [other, its] of this.#servers) if (!isSame(its, server)) cut(other)
    this.#onOther()
  }
}

function isSame(one: ServerMark, other: ServerMark): boolean {
  return one.identity === other.identity && one.startedAt === other.startedAt
}

/** Closes a connection at once: its pending queries are rejected, and its owner (a pool or the listener) drops it. */
function cut(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
