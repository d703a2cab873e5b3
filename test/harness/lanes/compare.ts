// Compares how two lanes treat the same bytes, and generates those bytes.
import { isDeepStrictEqual } from 'node:util'
import { ambiguous, refused, smuggling, wellFormed } from './corpus.ts'
import { guarded, type LaneObserver, type Sight } from './observe.ts'

export interface Lanes {
  readonly plain: LaneObserver
  readonly standard: LaneObserver
}

/**
 * Returns how the lanes' results for the same pieces differ; undefined if they are equal or differ in the intended way.
 */
export async function disagreement(
  { plain, standard }: Lanes,
  pieces: readonly Buffer[],
): Promise<string | undefined> {
  const onPlain = await plain.observe(pieces)
  const onStandard = await standard.observe(pieces)
  if (isDeepStrictEqual(onPlain, onStandard)) return undefined
  if (isCutShort(onPlain, onStandard) || isWithoutContinue(onPlain, onStandard)) return undefined
  const sent = pieces.map((piece) => piece.toString('latin1'))
  return JSON.stringify({ sent, plain: onPlain, standard: onStandard })
}

/**
 * Whether the lanes differ in the first intended way: on a connection that breaks, the standard lane, which runs the
 * requests concurrently, may give fewer responses and begin more requests than the plain lane.
 */
function isCutShort(plain: Sight, standard: Sight): boolean {
  return (
    standard.state === 'ended' &&
    plain.state === 'ended' &&
    plain.received.startsWith(standard.received) &&
    standard.receivedAfterEnd === '' &&
    plain.receivedAfterEnd === '' &&
    isPartOf(requestsOf(plain), requestsOf(standard))
  )
}

/** A `100 Continue` behind another response, with what precedes it, the response after it, and all further ones. */
const laterContinue =
  /^([^]+?)HTTP\/1\.1 100 Continue\r\n\r\n(HTTP\/1\.1 [^]+?)(?:(?<! )HTTP\/1\.1 \d{3} [^]*)?$/

/**
 * Whether the lanes differ in the second intended way: on the standard lane, the response to a request with
 * `Expect: 100-continue` may begin while it waits behind another one. It then comes without `100 Continue` and ends the
 * connection, because the caller might not send the body.
 */
function isWithoutContinue(plain: Sight, standard: Sight): boolean {
  const [, before, response] = laterContinue.exec(plain.received) ?? []
  if (before === undefined || response === undefined) return false
  const last = response.replace(
    /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=\d+/,
    '\r\nConnection: close',
  )
  return (
    standard.state === 'ended' &&
    standard.received === before + last &&
    standard.receivedAfterEnd === '' &&
    isPartOf(requestsOf(plain), requestsOf(standard))
  )
}

function requestsOf({ executed }: Sight): string[] {
  return executed.filter((what) => /^[A-Za-z]+ (?:[A-Z]+ )?\//.test(what))
}

function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  const left = [...all]
  return some.every((one) => {
    const at = left.indexOf(one)
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
}

/** Paths for which the observers' gateway responds at once, refuses, responds later, or forwards. */
export const places = [
  'now',
  'refused',
  'later',
  'up/x',
  'up/chunked',
  'up/close',
  'up/none',
  'up/same',
  'up/early',
  'up/broken',
  'up/half',
  'up/big',
  'up/events',
  'up/dated',
  'up/usual',
  'up/withheld',
  'up/odd',
] as const

/** Lists all messages of the corpus; most of them are addressed to this place. */
export function messagesTo(place: string): [name: string, bytes: Buffer][] {
  const key = 'X-API-Key: k'
  const list: [string, string][] = [
    ...wellFormed,
    ...smuggling,
    ...ambiguous.map(([name, text]): [string, string] => [
      name,
      text.replaceAll('{prefix}/x', '{at}').replaceAll('{key}', key),
    ]),
    ...refused.map(([name, , text]): [string, string] => [
      name,
      text.replace(/^([A-Z]+) \/(?=[ a])/, '$1 {at}/'),
    ]),
  ]
  return list.map(([name, text]) => [
    name,
    Buffer.from(
      text.replaceAll('{at}', `${guarded}/${place}`).replaceAll('{prefix}', guarded),
      'latin1',
    ),
  ])
}

/** Fragments that parsers often mishandle. */
const spice = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '\r\n\r\n',
    '%2f',
    '\\',
    '\xa0',
    '#',
    '"',
  ],
  ...['Content-Length: 5\r\n', 'Content-Length: 0\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Transfer-Encoding: x\r\n', 'Connection: close\r\n', 'Connection: x-api-key\r\n'],
  ...['Host: other.test\r\n', 'X-API-Key: \r\n', 'Expect: 100-continue\r\n', '0\r\n\r\n'],
  ...[
    'GET / HTTP/1.1\r\n\r\n',
    'HTTP/2.0',
    'Upgrade: websocket\r\n',
    'TE: trailers\r\n',
    '9999999',
  ],
]

/** Makes one to three messages, mutates them up to three times and cuts them into one to four pieces. */
export function randomPieces(random: () => number): Buffer[] {
  const place = pick(places, random)
  const messages = messagesTo(place)
  let bytes = Buffer.concat(
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(messages, random)[1]),
  )
  for (let left = Math.floor(random() * 4); left > 0; left--) bytes = mutate(bytes, random)
  const cuts = Array.from({ length: Math.floor(random() * 4) }, () =>
    Math.floor(random() * bytes.length),
  ).toSorted((a, b) => a - b)
  return [...cuts, bytes.length]
    .map((end, at) => bytes.subarray(cuts[at - 1] ?? 0, end))
    .filter((piece) => piece.length > 0)
}

function mutate(bytes: Buffer, random: () => number): Buffer<ArrayBuffer> {
  const at = Math.floor(random() * Math.min(bytes.length, 2000))
  const end = Math.min(bytes.length, at + Math.floor(random() * 24))
  const before = bytes.subarray(0, at)
  switch (Math.floor(random() * 4)) {
    case 0:
      return Buffer.concat([before, Buffer.from([random() * 256]), bytes.subarray(at + 1)])
    case 1:
      return Buffer.concat([before, bytes.subarray(at, end), bytes.subarray(at)])
    case 2:
      return Buffer.concat([before, bytes.subarray(end)])
    default:
      return Buffer.concat([before, Buffer.from(pick(spice, random), 'latin1'), bytes.subarray(at)])
  }
}

function pick<T>(choices: readonly T[], random: () => number): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new Error('nothing to pick from')
  return choice
}

const headerLines = [
  'Host: a\r\n',
  'Host: a\r\nX-API-Key: k\r\nAccept: */*\r\n',
  'Host: a\r\nContent-Length: 3\r\nX-API-Key: k\r\n',
  'host: a\r\nconnection: keep-alive\r\ntraceparent: 00-1-2-00\r\nUser-Agent: b\r\n',
  `Host: a\r\nX-A: ${'a'.repeat(1100)}\r\n`,
]

/**
 * Makes the bytes of one connection: requests with the same header lines, which the plain lane remembers. The last
 * request may be mutated and cut into pieces.
 */
export function randomConversation(random: () => number): Buffer[] {
  const lines = pick(headerLines, random)
  const body = lines.includes('Content-Length') ? 'abc' : ''
  const requestOf = (): Buffer => {
    const method = pick(['GET', 'POST', 'PUT'], random)
    const path = `${guarded}/${pick(places, random)}`
    return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`, 'latin1')
  }
  const pieces = Array.from({ length: 2 + Math.floor(random() * 3) }, requestOf)
  let last = requestOf()
  for (let left = Math.floor(random() * 3); left > 0; left--) last = mutate(last, random)
  const cuts = Array.from({ length: Math.floor(random() * 3) }, () =>
    Math.floor(random() * last.length),
  ).toSorted((a, b) => a - b)
  for (const [index, cut] of [...cuts, last.length].entries()) {
    pieces.push(last.subarray(cuts[index - 1] ?? 0, cut))
  }
  return pieces.filter(({ length }) => length > 0)
}
