import { gzipSync } from 'node:zlib'
import type { ExpectedLie } from './hostile-tokens.ts'

const html = { headers: { 'content-type': 'text/html' }, body: '<p>no</p>' }
const huge = (): string => JSON.stringify({ filler: 'x'.repeat(400_000) })
const bomb = (): Buffer => gzipSync(Buffer.alloc(8_000_000, 0x20))
const nested = (): string => `{"a":${'['.repeat(100)}${']'.repeat(100)}}`

const transport = (
  part: 'discovery' | 'keys' | 'token' | 'userinfo',
): Record<string, ExpectedLie> => ({
  [`${part}-500`]: { [part]: () => ({ status: 500, body: '{}' }), stops: [part, 'status'] },
  [`${part}-redirect`]: {
    [part]: () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' }),
    stops: [part, 'redirected'],
  },
  [`${part}-html`]: { [part]: () => html, stops: [part, 'content_type'] },
  [`${part}-gzip`]: {
    [part]: () => ({ headers: { 'content-encoding': 'br' }, body: 'x' }),
    stops: [part, 'content_type'],
  },
  [`${part}-not-json`]: { [part]: () => ({ body: '{oops' }), stops: [part, 'json'] },
  [`${part}-list`]: { [part]: () => ({ body: '[]' }), stops: [part, 'json'] },
  [`${part}-null`]: { [part]: () => ({ body: 'null' }), stops: [part, 'json'] },
  [`${part}-huge`]: { [part]: () => ({ body: huge() }), stops: [part, 'too_large'] },
  [`${part}-bad-utf8`]: {
    [part]: () => ({ body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }),
    stops: [part, 'encoding'],
  },
  [`${part}-doubled`]: {
    [part]: () => ({ body: '{"a":1,"\\u0061":2}' }),
    stops: [part, 'json_duplicate'],
  },
  [`${part}-deep`]: { [part]: () => ({ body: nested() }), stops: [part, 'json_depth'] },
  [`${part}-bomb`]: {
    [part]: () => ({ headers: { 'content-encoding': 'gzip' }, body: bomb() }),
    stops: [part, 'content_type'],
  },
  [`${part}-no-type`]: {
    [part]: () => ({ headers: { 'content-type': '' }, body: '{}' }),
    stops: [part, 'content_type'],
  },
  [`${part}-empty`]: { [part]: () => ({ body: '' }), stops: [part, 'json'] },
  [`${part}-204`]: { [part]: () => ({ status: 204 }), stops: [part, 'status'] },
  [`${part}-503`]: {
    [part]: () => ({ status: 503, headers: { 'retry-after': '3600' }, body: '{}' }),
    stops: [part, 'status'],
  },
  [`${part}-forever`]: {
    [part]: () => ({ status: 301, headers: { location: '' }, body: '' }),
    stops: [part, 'redirected'],
  },
  [`${part}-endless`]: { [part]: () => ({ fault: 'endless' }), stops: [part, 'too_large'] },
  [`${part}-cut`]: { [part]: () => ({ fault: 'cut' }), stops: [part, 'unreachable'] },
  [`${part}-close`]: { [part]: () => ({ fault: 'close' }), stops: [part, 'unreachable'] },
  [`${part}-garbage`]: { [part]: () => ({ fault: 'garbage' }), stops: [part, 'unreachable'] },
  [`${part}-short`]: { [part]: () => ({ fault: 'short' }), stops: [part, 'unreachable'] },
  [`${part}-head`]: {
    [part]: () => ({ headers: { 'x-filler': 'x'.repeat(40_000) }, body: '{}' }),
    stops: [part, 'unreachable'],
  },
})

/** Responses that are wrong whatever they claim: in status, headers, format, size or transfer. */
export const transportLies: Readonly<Record<string, ExpectedLie>> = {
  ...transport('discovery'),
  ...transport('keys'),
  ...transport('token'),
  ...transport('userinfo'),
  'discovery-hang': { discovery: () => ({ fault: 'hang' }), stops: ['discovery', 'timeout'] },
  'discovery-drip': { discovery: () => ({ fault: 'drip' }), stops: ['discovery', 'timeout'] },
  'keys-hang': { keys: () => ({ fault: 'hang' }), stops: ['keys', 'timeout'] },
  'userinfo-drip': { userinfo: () => ({ fault: 'drip' }), stops: ['userinfo', 'timeout'] },
  'token-hang': { token: () => ({ fault: 'hang' }), stops: ['token', 'timeout'] },
}
