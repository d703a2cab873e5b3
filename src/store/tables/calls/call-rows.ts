import { toStorable } from '../../../storable.ts'
import type { Engine } from '../../db/db.ts'
import type { CallRecord } from './call-record.ts'

/** Call records as one parameter of a statement. */
export interface CallRows {
  /** A JSON array of rows; for SQLite some of them may be packed. */
  readonly json: string
  readonly count: number
  /** The same text as ASCII bytes in shared memory, which another thread reads without a copy. */
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
 * The statement that adds call records given as `CallRows`, none of them packed; it ignores records already present,
 * because a batch is retried when the response gets lost.
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
 * The statement that adds this many rows to SQLite, with each value bound separately. It ignores records already
 * present. A row that breaks another constraint rolls back the whole transaction (`or rollback`): to undo just the
 * statement, SQLite would have to copy each page before changing it, which costs as much as inserting the rows.
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

/** The columns whose values a packed row contains itself; it takes the others from the row to which it refers. */
const ownNames = ['id', 'at', 'path', 'bytes_in', 'bytes_out', 'duration_us', 'upstream_us']
const ownPositions = ownNames.map((name) => columns.indexOf(name))
export const commonPositions = all.filter((at) => !ownPositions.includes(at))

/**
 * A row of a batch, either in full or packed. A packed row consists of the index of another row in the batch, which has
 * the same values in the common columns, and of the values of its own columns.
 */
export type PackedRow = readonly unknown[]

/** Returns a packed row's values in full. */
export function unpacked(row: PackedRow, like: readonly unknown[]): unknown[] {
  const full = [...like]
  for (const [index, at] of ownPositions.entries()) full[at] = row[index + 1]
  return full
}

/**
 * The statement that adds this many rows with the same common columns to SQLite; the values of the common columns are
 * bound first.
 */
export function insertAlikeText(rows: number): string {
  const common = commonPositions.map((at) => `? as ${columns[at]}`)
  const values = Array.from({ length: rows }, () => `(${ownNames.map(() => '?').join(', ')})`)
  const own = ownNames.map((name, index) => `own.column${index + 1} as ${name}`)
  const names = [...commonPositions.map((at) => columns[at] ?? ''), ...ownNames]
  const chosen = [...commonPositions.map((at) => `common.${columns[at]}`), ...own]
  return `insert or rollback into call (${names.join(', ')}) select ${chosen.join(', ')}
    from (select ${common.join(', ')}) as common, (values ${values.join(', ')}) as own
    where true on conflict do nothing`
}

const bufferBytes = 512 * 1024
const maxSpare = 4

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
  readonly #parts: SharedParts | PackedParts
  #used = 0
  #count = 0
  /** Complete batches that have not been taken yet. */
  readonly #full: CallRows[] = []

  constructor(engine: Engine) {
    this.#parts = engine === 'sqlite' ? new PackedParts() : new SharedParts()
  }

  /** The number of rows in the batch being filled. */
  get count(): number {
    return this.#count
  }

  add(call: CallRecord): void {
    let row = this.#parts.rowOf(call, this.#count)
    // The 2 bytes are a bracket or comma before the row, and the closing bracket.
    if (this.#used + row.length + 2 > bufferBytes) {
      this.#close()
      row = this.#parts.rowOf(call, 0)
    }
    if (row.length + 2 > bufferBytes) {
      this.#parts.reset()
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
    this.#parts.reset()
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
  const packed = JSON.parse(json) as PackedRow[]
  const rows = packed.map((row) =>
    typeof row[0] === 'number' ? unpacked(row, packed[row[0]] ?? []) : row,
  )
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

  reset(): void {
    this.#last = undefined
  }

  // Ids, methods and codes are generated or validated by us: plain ASCII without quotes. Other values are escaped.
  // Characters that a database cannot store are replaced, because one of them would stop the whole batch.
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

/**
 * Packs rows for SQLite: a row refers to its key's last full row in the batch if both have the same common columns and
 * no capture.
 */
class PackedParts {
  readonly #parts = new SharedParts()
  /** Each key's last row that was not packed, and its index in the batch. */
  readonly #likes = new Map<string, { readonly call: CallRecord; readonly index: number }>()

  /** Forgets all rows, because the next one begins another batch. */
  reset(): void {
    this.#parts.reset()
    this.#likes.clear()
  }

  rowOf(call: CallRecord, index: number): string {
    const like = this.#likes.get(call.keyId)
    if (like !== undefined && isAlike(like.call, call)) {
      return `[${like.index},"${call.id}",${call.at},${text(call.path)},${call.bytesIn},${call.bytesOut},${call.durationUs},${call.upstreamUs ?? 'null'}]`
    }
    this.#likes.set(call.keyId, { call, index })
    return this.#parts.rowOf(call)
  }
}

function isAlike(a: CallRecord, b: CallRecord): boolean {
  return (
    isSameCalled(a, b) &&
    isSameDecided(a, b) &&
    a.organizationId === b.organizationId &&
    a.address === b.address &&
    a.agent === b.agent &&
    a.capture === undefined &&
    b.capture === undefined
  )
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
