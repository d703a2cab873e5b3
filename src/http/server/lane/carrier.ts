import type { OpenExchange } from './front-connection.ts'

/** A lane's view of an exchange that it carries. */
export interface CarriedExchange extends OpenExchange {
  readonly hasBody: boolean
  /**
   * Takes the next chunk of the request body, whose bytes are valid only during the call; null marks the end. Returning
   * false asks for a pause.
   */
  bodyArrived(chunk: Buffer | null): boolean
}

/** A lane's operations for an exchange: receiving the request body and writing the response. */
export interface Carrier {
  readonly peerAddress: string
  /** Whether the whole request, including its body, has arrived. */
  readonly requestComplete: boolean
  /**
   * Whether more of the body is certain to arrive before this turn of the event loop ends, so that it can be sent
   * together with the head.
   */
  readonly bodyIsAtHand: boolean
  /** The trailers of a chunked body, as a flat list; complete once the body has ended. */
  readonly trailers: readonly string[]

  /** Starts an exchange, whose body goes to `bodyArrived`. */
  opened(exchange: CarriedExchange): void
  /** Ends an exchange that was answered, cut off or abandoned. */
  closed(exchange: CarriedExchange): void
  /** Resumes reading a body after the exchange requested a pause. */
  readOn(): void

  /** Ends the connection after the current response; further requests on it are not processed. */
  endAfterResponse(): void
  /** Reads and discards what is left of an unneeded short body; the connection stays open. */
  discardRest(): void

  /** Writes a complete response; `body` is text whose characters are bytes (latin1), '' for none. */
  respond(response: ResponseHead, body: string): void
  /** Writes a complete response whose lines are passed on unchanged; undefined on a lane that renders each header. */
  readonly relay?: (response: RelayedLines, own: readonly string[]) => void
  /** Begins a streamed response; its head is sent with the first bytes of the body, or by `flushHead`. */
  begin(response: ResponseHead): void
  flushHead(): void
  /**
   * Writes a chunk of the body, whose bytes are valid only during the call; after false, the writer must wait for
   * `onDrain`.
   */
  write(chunk: Buffer): boolean
  /** Calls back once, when the caller has read enough for more to be written. */
  onDrain(resume: () => void): void
  /** Ends a streamed response, with optional trailers (flat list). */
  end(trailers: readonly string[]): void
  writeContinue(): void
  /** Sends `103 Early Hints` with these links. */
  writeEarlyHints(links: readonly string[]): void
  destroy(): void
}

/** A complete response whose status line and headers are already rendered; valid only during the call. */
export interface RelayedLines {
  readonly hasDate: boolean
  /** The size of the status line and all header lines, each with its CRLF. */
  readonly lineBytes: number
  readonly bodyBytes: number
  /** Copies the lines to an offset; returns the offset after them. */
  copyLines(to: Buffer, at: number): number
  copyBody(to: Buffer, at: number): void
}

/**
 * The head of a response. `headers` is a flat list without Connection and Transfer-Encoding; the lane adds them as
 * needed, and a Date if there is none.
 */
export interface ResponseHead {
  readonly status: number
  /** The upstream's own reason phrase; undefined for the standard one. */
  readonly reason: string | undefined
  readonly headers: string[]
  /**
   * Whether a parser has already checked that no header splits the head; otherwise, this is checked on rendering.
   */
  readonly isChecked: boolean
  /** Whether the request's method and the status allow a body. */
  readonly hasBody: boolean
}
