// Sends raw bytes to a local port and returns the response: for input that no HTTP client would send.
import { connect } from 'node:net'

const firstByteMs = 10_000

/**
 * Sends the text (latin1) and returns everything until the other side closes, or until no byte has come for `quietMs`
 * (300 ms by default). If `quietMs` is given, it applies to the first byte too, and silence is a valid result.
 * Otherwise the first byte may take `firstByteMs`, because the machine may be busy.
 */
export async function exchangeRaw(
  port: number,
  text: string,
  options: { quietMs?: number; host?: string } = {},
): Promise<string> {
  const { quietMs = 300, host = '127.0.0.1' } = options
  const untilFirstMs = options.quietMs ?? firstByteMs
  return new Promise((resolve, reject) => {
    const socket = connect(port, host)
    let answer = ''
    let quiet = setTimeout(() => socket.destroy(), untilFirstMs)
    socket.on('connect', () => socket.write(text, 'latin1'))
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      clearTimeout(quiet)
      quiet = setTimeout(() => socket.destroy(), quietMs)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A refusing server may end with a reset after its response.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearTimeout(quiet)
      resolve(answer)
    })
  })
}

/** Lists the status codes of the responses in a raw transcript, including interim ones. */
export function statusesOf(transcript: string): number[] {
  return [...transcript.matchAll(/(?:^|\n|\}|[^\r\n])HTTP\/1\.1 (\d{3})/g)].map((match) =>
    Number(match[1]),
  )
}
