// A socket without a network: input is fed to it, output is recorded, and nothing takes time.
import { Duplex } from 'node:stream'
import type { Socket } from 'node:net'

export class FakeSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  bytesRead = 0
  /** Everything written, one character per byte. */
  written = ''
  readonly #heard: (text: string) => void

  constructor(heard: (text: string) => void = () => undefined) {
    super({ allowHalfOpen: true, decodeStrings: false })
    this.#heard = heard
    this.on('error', () => undefined)
  }

  get asSocket(): Socket {
    // The tested code uses only these parts of a socket.
    return this as unknown as Socket
  }

  feed(bytes: Buffer): void {
    if (this.destroyed) return
    this.bytesRead += bytes.length
    this.push(bytes)
  }

  endInput(): void {
    if (!this.destroyed) this.push(null)
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    const text = typeof chunk === 'string' ? chunk : chunk.toString('latin1')
    this.written += text
    done()
    this.#heard(text)
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}
