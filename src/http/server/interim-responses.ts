import type { ServerResponse } from 'node:http'

// Node keeps what is written to a response that waits behind another one, and puts the final head in front of all of
// it if the body begins with bytes. An interim response would then be in the body, and the end of the body would be read
// as the next response.

/** Sends `100 Continue` once the response is the next one on its connection, unless it has begun by then. */
export function writeContinue(response: ServerResponse): void {
  if (response.socket !== null) {
    response.writeContinue()
    return
  }
  response.once('socket', () => {
    if (!response.headersSent) response.writeContinue()
  })
}

/** Sends `103 Early Hints`, unless the response waits behind another one: by its turn, hints are hardly early. */
export function writeEarlyHints(response: ServerResponse, links: readonly string[]): void {
  if (response.socket !== null) response.writeEarlyHints({ link: [...links] })
}
