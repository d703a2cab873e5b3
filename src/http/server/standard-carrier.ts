import type { ServerResponse } from 'node:http'
import type { ClientConnection } from './client-connection.ts'
import type { DirectRequest } from './direct-request.ts'
import { writeContinue, writeEarlyHints } from './interim-responses.ts'
import type { CarriedExchange, Carrier, ResponseHead } from './lane/carrier.ts'

/** Carries one exchange on the standard lane: the request and response objects of node:http. */
export class StandardCarrier implements Carrier {
  readonly #request: DirectRequest
  readonly #response: ServerResponse
  readonly #connection: ClientConnection

  constructor(request: DirectRequest, response: ServerResponse, connection: ClientConnection) {
    this.#request = request
    this.#response = response
    this.#connection = connection
  }

  get peerAddress(): string {
    return this.#connection.peerAddress
  }

  get requestComplete(): boolean {
    return this.#request.complete
  }

  get bodyIsAtHand(): boolean {
    return false
  }

  get trailers(): readonly string[] {
    return this.#request.rawTrailers
  }

  opened(exchange: CarriedExchange): void {
    this.#connection.add(exchange)
    if (exchange.hasBody) this.#request.takeBody((chunk) => exchange.bodyArrived(chunk))
  }

  closed(exchange: CarriedExchange): void {
    this.#connection.remove(exchange)
  }

  readOn(): void {
    this.#request.goOn()
  }

  endAfterResponse(): void {
    this.#response.shouldKeepAlive = false
    this.#connection.refuseFurther()
  }

  discardRest(): void {
    this.#connection.expectRest(this.#request)
  }

  respond(head: ResponseHead, body: string): void {
    this.begin(head)
    if (body === '') this.#response.end()
    else this.#response.end(body, 'latin1')
  }

  begin({ status, reason, headers }: ResponseHead): void {
    if (this.#connection.draining) this.#response.shouldKeepAlive = false
    if (reason === undefined) this.#response.writeHead(status, headers)
    else this.#response.writeHead(status, reason, headers)
  }

  flushHead(): void {
    this.#response.flushHeaders()
  }

  write(chunk: Buffer): boolean {
    return this.#response.write(Buffer.from(chunk))
  }

  onDrain(resume: () => void): void {
    this.#response.once('drain', resume)
  }

  end(trailers: readonly string[]): void {
    if (trailers.length > 0) this.#response.addTrailers(pairs(trailers))
    this.#response.end()
  }

  writeContinue(): void {
    writeContinue(this.#response)
  }

  writeEarlyHints(links: readonly string[]): void {
    writeEarlyHints(this.#response, links)
  }

  destroy(): void {
    this.#connection.destroy()
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) list.push([flat[at] ?? '', flat[at + 1] ?? ''])
  return list
}
