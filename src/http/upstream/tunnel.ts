import type { Exchange, ExchangeWatcher, UpgradedStream } from '../server/exchange.ts'
import type { TunnelEnd, UpstreamConnection } from './connection.ts'

/** Joins two raw streams after a 101: when one ends, so does the other. */
export class Tunnel implements TunnelEnd, ExchangeWatcher {
  readonly #client: UpgradedStream
  readonly #upstream: UpstreamConnection
  readonly #exchange: Exchange
  readonly #touched: () => void
  readonly #ended: () => void
  #open = true

  constructor(parts: {
    client: UpgradedStream
    upstream: UpstreamConnection
    exchange: Exchange
    touched: () => void
    ended: () => void
  }) {
    this.#client = parts.client
    this.#upstream = parts.upstream
    this.#exchange = parts.exchange
    this.#touched = parts.touched
    this.#ended = parts.ended
  }

  start(head: string, rest: Buffer): void {
    const { socket } = this.#client
    this.#upstream.switchTo(this)
    this.#exchange.watcher = this
    socket.write(head, 'latin1')
    if (rest.length > 0) this.fromUpstream(rest)
    if (this.#client.head.length > 0) this.#fromClient(this.#client.head)
    socket.on('data', (chunk: Buffer) => this.#fromClient(chunk))
    socket.on('drain', () => this.#upstream.resume())
    socket.on('end', () => this.#upstream.end())
    socket.on('close', () => this.close())
    socket.on('error', () => this.close())
  }

  fromUpstream(bytes: Buffer): void {
    if (!this.#open) return
    this.#touched()
    this.#exchange.bytesOut += bytes.length
    if (!this.#client.socket.write(Buffer.from(bytes))) this.#upstream.pause()
  }

  upstreamEnded(): void {
    this.#client.socket.end()
  }

  writable(): void {
    this.#client.socket.resume()
  }

  closed(): void {
    this.close()
  }

  callerLeft(): void {
    this.close()
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#exchange.watcher = undefined
    this.#exchange.release()
    // The caller's connection ends only after the upstream's last bytes have been written to it.
    this.#client.socket.destroySoon()
    this.#upstream.destroy()
    this.#ended()
  }

  #fromClient(chunk: Buffer): void {
    this.#touched()
    this.#exchange.bytesIn += chunk.length
    if (!this.#upstream.write(chunk)) this.#client.socket.pause()
  }
}
