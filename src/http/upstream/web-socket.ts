import { createHash } from 'node:crypto'
import { MalformedResponse, type UpstreamResponseHead } from './response-head.ts'

// The GUID from which Sec-WebSocket-Accept is computed (RFC 6455, section 1.3).
const handshakeId = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * Throws unless a 101 completes the caller's WebSocket handshake (RFC 6455, section 4.1): if the upstream switched to
 * any other protocol, unchecked bytes would flow in both directions.
 */
export function checkHandshake(
  head: UpstreamResponseHead,
  requestHeaders: readonly string[],
): void {
  const [key, ...moreKeys] = valuesOf(requestHeaders, 'sec-websocket-key')
  const [accept, ...moreAccepts] = valuesOf(head.headers, 'sec-websocket-accept')
  const upgrades = valuesOf(head.headers, 'upgrade').map((value) => value.toLowerCase())
  if (upgrades.length !== 1 || upgrades[0] !== 'websocket') broken('no WebSocket')
  if (!head.connectionNames.includes('upgrade')) broken('no upgrade in Connection')
  if (key === undefined || moreKeys.length > 0) broken('the caller sent no single key')
  if (moreAccepts.length > 0 || accept !== acceptOf(key)) broken('wrong Sec-WebSocket-Accept')
}

/** Whether a request has one key of a handshake: 16 bytes in Base64 (RFC 6455, section 4.1). */
export function hasHandshakeKey(requestHeaders: readonly string[]): boolean {
  const keys = valuesOf(requestHeaders, 'sec-websocket-key')
  return keys.length === 1 && /^[A-Za-z0-9+/]{22}==$/.test(keys[0] ?? '')
}

/** Returns the values of a header from a flat list, by its lower-case name. */
export function valuesOf(headers: readonly string[], lower: string): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === lower) values.push(headers[at + 1] ?? '')
  }
  return values
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${handshakeId}`, 'latin1').digest('base64')
}

function broken(what: string): never {
  throw new MalformedResponse(`the upstream's 101 is no handshake: ${what}`)
}
