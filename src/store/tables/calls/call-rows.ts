import { toStorable } from '../../../storable.ts'
import type { Engine } from '../../db/db.ts'
import type { CallRecord } from './call-record.ts'

/** Call records as one parameter of a statement: a JSON array of rows, in ASCII. */
export interface CallRows {
  readonly json: string
  readonly count: number
  /** The same text as bytes in shared memory, which another thread reads without a copy. */
  readonly shared?: Uint8Array | undefined
}

export const noCallRows: CallRows = { json: '[]', count: 0 }

const columns = [
  'organization_id',
  'id',
  'at',
  'key_id',
  'target_id',
  'method',
  'path',
  'status',
  'refusal',
  'stopped_at',
  'rule_id',
  'trial_rule_id',
  'bytes_in',
  'bytes_out',
  'duration_us',
  'upstream_us',
  'address',
  'agent',
  'capture',
]
const numbers = new Set(['at', 'status', 'bytes_in', 'bytes_out', 'duration_us', 'upstream_us'])

/**
 * The statement that adds such rows; it ignores rows already present, because a batch is retried when the response gets
 * lost.
 */
export function insertRowsText(engine: Engine): string {
  const isPostgres = engine === 'postgres'
  const values = columns.map((name, at) =>
    isPostgres && numbers.has(name) ? `(value->>${at})::bigint` : `value->>${at}`,
  )
  const rows = isPostgres ? 'jsonb_array_elements($1::jsonb) as row (value)' : 'json_each(?)'
  // Without "where true", SQLite parses "on conflict" as a join condition.
  return `insert into call (${columns.join(', ')}) select ${values.join(', ')} from ${rows} where true on conflict do nothing`
}

/**
 * The statement that adds this many rows to SQLite, with each value bound separately. A row that breaks a constraint
 * rolls back the whole transaction (`or rollback`): to undo just the statement, SQLite would have to copy each page
 * before changing it, which costs as much as inserting the rows.
 */
export function insertBoundText(rows: number, positions: readonly number[] = all): string {
  const names = positions.map((at) => columns[at])
  const row = `(${names.map(() => '?').join(', ')})`
  const values = Array.from({ length: rows }, () => row)
  return `insert or rollback into call (${names.join(', ')}) values ${values.join(', ')} on conflict do nothing`
}

const all = [...columns.keys()]
const emptyForMost = new Set(['refusal', 'stopped_at', 'trial_rule_id', 'capture'])
/** The columns that are empty for most calls, and the others, as positions in a row. */
export const [rarePositions, usualPositions] = [
  all.filter((at) => emptyForMost.has(columns[at] ?? '')),
  all.filter((at) => !emptyForMost.has(columns[at] ?? '')),
]

const bufferBytes = 512 * 1024
const maxSpare = 4

/** A batch in a buffer of `CallRowsBuffer`. */
class FilledBuffer implements CallRows {
  readonly buffer: Buffer
  readonly shared: Buffer
  readonly count: number

  constructor(buffer: Buffer, used: number, count: number) {
    this.buffer = buffer
    this.shared = buffer.subarray(0, used)
    this.count = count
  }

  get json(): string {
    return this.shared.toString('latin1')
  }
}

/**
 * Collects call records as bytes until their batch is written, in buffers that are reused. Records kept as objects or
 * strings would outlive V8's young generation, and garbage collections of the old generation delay calls.
 */
export class CallRowsBuffer {
  readonly #spare: Buffer[] = []
  #bytes = sharedBuffer()
  readonly #parts = new SharedParts()
  #used = 0
  #count = 0
  /** Batches that filled up before they were taken. */
  readonly #full: CallRows[] = []

  /** The number of rows in the batch being filled. */
  get count(): number {
    return this.#count
  }

  add(call: CallRecord): void {
    const row = this.#parts.rowOf(call)
    // The 2 bytes are a bracket or comma before the row, and the closing bracket.
    if (this.#used + row.length + 2 > bufferBytes) this.#close()
    if (row.length + 2 > bufferBytes) {
      this.#full.push({ json: `[${row}]`, count: 1 })
      return
    }
    this.#bytes[this.#used] = this.#count === 0 ? openBracket : comma
    this.#used += 1 + this.#bytes.write(row, this.#used + 1, 'latin1')
    this.#count++
  }

  /** Removes and returns the collected batches, oldest first. */
  take(): CallRows[] {
    this.#close()
    return this.#full.splice(0)
  }

  /** Takes back the memory of a batch for new records; nobody may read that batch any more. */
  reuse(rows: CallRows): void {
    if (rows instanceof FilledBuffer && this.#spare.length < maxSpare) this.#spare.push(rows.buffer)
  }

  #close(): void {
    if (this.#count === 0) return
    this.#bytes[this.#used++] = closeBracket
    this.#full.push(new FilledBuffer(this.#bytes, this.#used, this.#count))
    this.#bytes = this.#spare.pop() ?? sharedBuffer()
    this.#used = 0
    this.#count = 0
  }
}

function sharedBuffer(): Buffer {
  return Buffer.from(new SharedArrayBuffer(bufferBytes))
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Splits rows in two, in order to find the record that the database refuses. */
export function halvesOf({ json }: CallRows): readonly [CallRows, CallRows] {
  const rows = JSON.parse(json) as unknown[]
  const middle = Math.ceil(rows.length / 2)
  const [first, second] = [rows.slice(0, middle), rows.slice(middle)]
  return [
    { json: JSON.stringify(first), count: first.length },
    { json: JSON.stringify(second), count: second.length },
  ]
}

/** Converts records into rows all at once, without the buffer of `CallRowsBuffer`. */
export function rowsOf(calls: readonly CallRecord[]): CallRows {
  const parts = new SharedParts()
  return { json: `[${calls.map((call) => parts.rowOf(call)).join(',')}]`, count: calls.length }
}

/** The parts of rows that successive calls often share; reusing them saves a fifth of the work for a row. */
class SharedParts {
  #last: CallRecord | undefined
  #called = ''
  #decided = ''
  #caller = ''

  // Ids, methods and codes are generated or validated by us: plain ASCII without quotes. Other values are escaped, and
  // what no database can store is replaced: it would stop the whole batch.
  rowOf(call: CallRecord): string {
    const last = this.#last
    if (last === undefined || !isSameCalled(last, call)) {
      this.#called = `,"${call.keyId}",${plain(call.targetId)},"${call.method}",`
    }
    if (last === undefined || !isSameDecided(last, call)) {
      this.#decided = `,${call.status},${plain(call.refusal)},${plain(call.stoppedAt)},${plain(call.ruleId)},${plain(call.trialRuleId)},`
    }
    if (last?.address !== call.address || last.agent !== call.agent) {
      this.#caller = `,${text(call.address)},${text(call.agent)},`
    }
    this.#last = call
    return `["${call.organizationId}","${call.id}",${call.at}${this.#called}${text(call.path)}${this.#decided}${call.bytesIn},${call.bytesOut},${call.durationUs},${call.upstreamUs ?? 'null'}${this.#caller}${text(call.capture)}]`
  }
}

function isSameCalled(a: CallRecord, b: CallRecord): boolean {
  return a.keyId === b.keyId && a.targetId === b.targetId && a.method === b.method
}

function isSameDecided(a: CallRecord, b: CallRecord): boolean {
  return (
    a.status === b.status &&
    a.refusal === b.refusal &&
    a.stoppedAt === b.stoppedAt &&
    a.ruleId === b.ruleId &&
    a.trialRuleId === b.trialRuleId
  )
}

function plain(value: string | undefined): string {
  return value === undefined ? 'null' : `"${value}"`
}

function text(value: string | undefined): string {
  if (value === undefined) return 'null'
  if (!/[^\x20\x21\x23-\x5b\x5d-\x7e]/.test(value)) return `"${value}"`
  return JSON.stringify(toStorable(value)).replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
