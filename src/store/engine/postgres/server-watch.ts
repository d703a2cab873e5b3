import type pg from 'pg'
import type { ServerMark } from '../../db/db.ts'
import { greetServer } from './greeting.ts'

/** Knows which server each connection leads to, and ends those to a server that another one has taken the place of. */
export class ServerWatch {
  readonly #servers = new Map<pg.ClientBase, ServerMark>()
  #current: ServerMark | undefined
  #onOther: () => void = () => undefined

  /** Calls back when a connection has led to another server than the ones before, or to the same after a new start. */
  onOther(call: () => void): void {
    this.#onOther = call
  }

  /** Greets the server behind a new connection; throws if it may not be used. */
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

/** Whoever waits on it is refused; a pool notices and takes it out. */
function cut(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
