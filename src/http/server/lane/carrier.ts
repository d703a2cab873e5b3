import type { OpenExchange } from './front-connection.ts'

/** What a lane knows of an exchange that it carries. */
export interface CarriedExchange extends OpenExchange {
  readonly hasBody: boolean
  /** Takes a piece of the body, which is only good during the call, null at its end; false asks for a pause. */
  bodyArrived(chunk: Buffer | null): boolean
}

/** What a lane does for an exchange: how its request's body arrives and how its response is written. */
export interface Carrier {
  readonly peerAddress: string
  /** Whether the whole request, body included, has arrived. */
  readonly requestComplete: boolean
  /** Whether more of the body comes before this turn of the loop ends, so that nobody need wait to send it on with its head. */
  readonly bodyIsAtHand: boolean
  /** The trailers of a chunked body, a flat list; complete once the body has ended. */
  readonly trailers: readonly string[]

  /** An exchange begins; its body goes to `bodyArrived`. */
  opened(exchange: CarriedExchange): void
  /** An exchange is over: answered, cut or left. */
  closed(exchange: CarriedExchange): void
  /** Goes on reading a body after the exchange asked for a pause. */
  readOn(): void

  /** Nothing after the present response is executed, and the connection ends with it. */
  endAfterResponse(): void
  /** The short rest of a body that nobody wants is read and thrown away; the connection stays. */
  discardRest(): void

  /** Writes a whole response; `body` is text whose characters are bytes (latin1), '' for none. */
  respond(response: ResponseHead, body: string): void
  /** Begins a streamed response; its head goes out with the first bytes of the body, or with `flushHead`. */
  begin(response: ResponseHead): void
  flushHead(): void
  /** Writes a part of the body, which is only good during the call; false asks to wait for `onDrain`. */
  write(chunk: Buffer): boolean
  /** Calls back once, when the caller has taken what was written. */
  onDrain(resume: () => void): void
  /** Ends a streamed response, with trailers where there are some (flat list). */
  end(trailers: readonly string[]): void
  /** Sends `100 Continue`. */
  writeContinue(): void
  /** Sends `103 Early Hints` with these links. */
  writeEarlyHints(links: readonly string[]): void
  /** Breaks the connection. */
  destroy(): void
}

/** The head of a response; `headers` is a flat list without Date, Connection and Transfer-Encoding. */
export interface ResponseHead {
  readonly status: number
  /** The upstream's own reason phrase; undefined for the usual one. */
  readonly reason: string | undefined
  readonly headers: string[]
  /** Whether each header was read from bytes by a parser that lets nothing through that would split a head. */
  readonly isChecked: boolean
  /** Whether a body follows, as the request's method and the status allow. */
  readonly hasBody: boolean
}
