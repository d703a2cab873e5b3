// Measures the CPU time of identifying a caller among many keys, with and without the key in the cache, and the memory
// that a cached key takes.
// Usage: `npm run bench -- keys [keys] [requested] [remembered]`, by default 1,000,000, 300,000 and as many as
// there are keys. `requested` of the keys are read from SQLite. Then `remembered` keys are cached without a database,
// and `requested` of these are looked up.
import Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createKeyCache,
  keyAtHand,
  keysInMemory,
  readKey,
  schemes,
  type PresentedKey,
} from '../src/access/index.ts'
import { systemClock } from '../src/clock.ts'
import { Problem } from '../src/errors.ts'
import { createId, type OrganizationId } from '../src/ids.ts'
import { digest, digestBytes, mintCredential } from '../src/secrets/index.ts'
import { openStore, organizations, type Store } from '../src/store/index.ts'
import { median } from './gateway-measure.ts'

const total = Number(process.argv[2] ?? 1_000_000)
const probes = Math.min(total, Number(process.argv[3] ?? 300_000))
const remembered = Number(process.argv[4] ?? total)
// On a busy host, a core runs slower for seconds at a time. So the questions take turns, and all passes together take
// several seconds.
const passes = 15
const turnMs = 50
/** How many look-ups share a reading of the clocks, which the gateway makes for each call anyway. */
const clockEvery = 100
const enabledSchemes = ['x-api-key', 'bearer'] as const
const folder = mkdtempSync(join(tmpdir(), 'intercept-keys-'))

try {
  const organizationId = await found()
  const startedAt = performance.now()
  const secrets = fill(organizationId)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(`${total} keys (made in ${seconds} s), ${probes} of them asked for`)
  await using store = await openStore({ folder, clock: systemClock, isNode: false })
  await reportReads(store, secrets)
  await reportRemembered(store, secrets)
  await report([
    { name: 'malformed: a character', texts: secrets.map(withWrongCharacter), ask: refused },
    { name: 'malformed: the checksum', texts: secrets.map(withWrongChecksum), ask: refused },
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function cacheOver(store: Store) {
  return createKeyCache({ store, clock: systemClock, enabledSchemes, capacity: keysInMemory })
}

async function reportReads(store: Store, secrets: readonly string[]): Promise<void> {
  const keyCache = cacheOver(store)
  // Reads each key once, because it is remembered afterwards.
  const us = await passOver(secrets, async (text) => {
    await keyCache.identify(presented(text))
  })
  console.log(`  ${'not remembered (SQLite)'.padEnd(34)} ${us.toFixed(2)} µs CPU`)
}

/** Fills the cache with made-up keys, then looks up those with the given secrets as the gateway does. */
async function reportRemembered(store: Store, secrets: readonly string[]): Promise<void> {
  const executeQuery = async () => {
    const row = { id: createId('key'), expires_at: null, valid_until: null, slug: 'bench' }
    const more = { organization_id: 'org_bench', settings: '{}' }
    return { rows: [{ ...row, ...more, shared: '["x-api-key",0,0,null,null,null,null]' }] }
  }
  const query = new Proxy(store.query, {
    get(target, name) {
      if (name === 'executeQuery') return executeQuery
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  const fillCache = async (count: number) => {
    const filled = cacheOver({ ...store, query })
    const every = Math.max(1, Math.floor(count / probes))
    for (let made = 0; made < count; made++) {
      const text = made % every === 0 ? secrets[made / every] : undefined
      const keyDigest = digestBytes(text ?? `key ${made}`)
      await filled.identify({ text: '', scheme: 'x-api-key', digest: keyDigest })
      if (made % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    return filled
  }
  // Fills a small cache first, so that the code is compiled before the heap is measured.
  await fillCache(Math.min(remembered, 20_000))
  const before = bytesUsed()
  const keyCache = await fillCache(remembered)
  const each = (bytesUsed() - before) / keyCache.size
  const missed = new Set<string>()
  let asked = 0
  let moment = store.moment()
  const find = (text: string): void => {
    // A call reads the clocks when it arrives, and its look-up uses that reading.
    if (asked++ % clockEvery === 0) moment = store.moment()
    if (keyCache.known(digestBytes(atHand(text)), moment) === undefined) missed.add(text)
  }
  const [digestUs = 0, , wholeUs = 0] = await report([
    { name: 'digest alone (SHA-256)', texts: secrets, ask: (text) => void digestBytes(text) },
    { name: 'digest, and one read from memory', texts: secrets, ask: readerOf(keyCache.size) },
    { name: 'remembered, with the digest', texts: secrets, ask: find },
  ])
  console.log(
    `  ${'of which beyond the digest'.padEnd(34)} ${(wholeUs - digestUs).toFixed(2)} µs CPU`,
  )
  if (missed.size > 0) console.log(`  (${missed.size} of them were not found)`)
  const exact = globalThis.gc === undefined ? '; run with --expose-gc for an exact figure' : ''
  console.log(
    `  memory per remembered key          ${each.toFixed(1)} B (${keyCache.size} remembered${exact})`,
  )
}

/**
 * Returns a rough lower bound for a look-up: the digest, and one word of a record in an array of about the size of ours.
 * The places are random, so the processor's caches help little.
 */
function readerOf(count: number): (text: string) => void {
  const words = 8
  const records = new Uint32Array(count * words).fill(1)
  return (text) => {
    const found = digestBytes(text)
    let place = 0
    for (let at = 0; at < 8; at++) place = (Math.imul(place, 31) + found.charCodeAt(at)) >>> 0
    if (records[(place % count) * words] !== 1) throw new Error('there is no such record')
  }
}

function atHand(text: string): string {
  const head = { apiKey: text, apiKeyCount: 1, authorizationCount: 0 }
  return keyAtHand(head, enabledSchemes) ?? ''
}

function presented(text: string): PresentedKey {
  const read = readKey({ xApiKey: [text], authorization: [] }, enabledSchemes)
  if (read instanceof Problem) throw read
  return read
}

function refused(text: string): void {
  const read = readKey({ xApiKey: [text], authorization: [] }, enabledSchemes)
  if (!(read instanceof Problem)) throw new Error('a malformed key was taken')
}

// Replaces the last character with one that no key contains. The text is built through a buffer, so that V8 keeps it as
// one flat string, like a header's value.
function withWrongCharacter(text: string): string {
  return Buffer.from(`${text.slice(0, -1)}!`).toString('latin1')
}

function withWrongChecksum(text: string): string {
  return Buffer.from(text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')).toString('latin1')
}

/** Returns the bytes in use on the heap and in typed arrays, which are outside the heap. */
function bytesUsed(): number {
  // `arrayBuffers` shrinks only after the second collection.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

interface Question {
  readonly name: string
  readonly texts: readonly string[]
  readonly ask: (text: string) => void
}

/**
 * Measures the CPU time of each question in µs, in several passes over all texts in which the questions take turns.
 * Prints the median and the range of each question, and returns the medians in the order of the questions.
 */
async function report(questions: readonly Question[]): Promise<number[]> {
  const measured = questions.map((question) => ({ ...question, each: [] as number[] }))
  // The first pass compiles the code.
  for (const { texts, ask } of measured) await passOver(texts, ask)
  for (let pass = 0; pass < passes; pass++) {
    for (const { texts, ask, each } of measured) each.push(await passOver(texts, ask))
  }
  return measured.map(({ name, each }) => {
    const range = `${Math.min(...each).toFixed(2)} to ${Math.max(...each).toFixed(2)}`
    console.log(`  ${name.padEnd(34)} ${median(each).toFixed(2)} µs CPU (${range})`)
    return median(each)
  })
}

/** Asks about each secret once; returns the CPU time of one question in µs. */
async function passOver(
  secrets: readonly string[],
  ask: (text: string) => Promise<void> | void,
): Promise<number> {
  const cpu = process.cpuUsage()
  let at = 0
  let turnedAt = performance.now()
  for (const text of secrets) {
    const asked = ask(text)
    if (asked !== undefined) await asked
    // Yields so that the change feed can be polled: a node that cannot read the feed stops trusting its cache.
    if (++at % 1000 !== 0 || performance.now() - turnedAt < turnMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    turnedAt = performance.now()
  }
  const { user, system } = process.cpuUsage(cpu)
  return (user + system) / secrets.length
}

async function found(): Promise<OrganizationId> {
  await using store = await openStore({ folder, clock: systemClock, isNode: false })
  const id = createId('org')
  await store.transaction(async (tx) => {
    await organizations.insert(tx, { id, slug: 'bench', name: 'Bench', plan: 'standard' })
  })
  return id
}

/**
 * Inserts the keys without the store, and creates indexes afterwards; returns the secrets of an evenly spread sample.
 */
function fill(organizationId: OrganizationId): string[] {
  const secrets: string[] = []
  const every = Math.floor(total / probes)
  const file = new Database(join(folder, 'intercept.db'))
  try {
    for (const setting of ['synchronous = off', 'foreign_keys = off', 'cache_size = -400000']) {
      file.pragma(setting)
    }
    const indexes = file
      .prepare(
        `select name, sql from sqlite_master where type = 'index' and sql is not null and tbl_name in ('api_key', 'key_secret')`,
      )
      .all() as { name: string; sql: string }[]
    const key = file.prepare(
      `insert into api_key (id, organization_id, name, scheme, created_at) values (?, ?, 'bench', 'x-api-key', ?)`,
    )
    const keySecret = file.prepare(
      `insert into key_secret (digest, key_id, organization_id, lookup, hint, created_at) values (?, ?, ?, ?, ?, ?)`,
    )
    const now = Date.now()
    file.transaction(() => {
      for (const { name } of indexes) file.exec(`drop index ${name}`)
      for (let at = 0; at < total; at++) {
        const { secret, lookup } = mintCredential(schemes['x-api-key'].prefix)
        const text = secret.reveal()
        const id = createId('key')
        key.run(id, organizationId, now)
        keySecret.run(digest(text), id, organizationId, lookup, secret.hint, now)
        if (at % every === 0 && secrets.length < probes) secrets.push(text)
      }
      for (const { sql } of indexes) file.exec(sql)
    })()
  } finally {
    file.close()
  }
  return secrets
}
