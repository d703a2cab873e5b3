import type { CallColumn } from '../record/call-columns.ts'

/*
 * A block is: its version and the number of rows (2 bytes each), 4 unused bytes, the rows, and the texts of the rows as a
 * JSON array in ASCII. All numbers are little-endian. A row is, in this order:
 * - five numbers of 8 bytes, as floating point: `numberColumns`
 * - the status and, for each of `textColumns`, the number of its text (0 for none, 1 for the first), each of 2 bytes
 * - the id in 30 bytes, padded with zeros
 */

export const blockVersion = 1
export const headBytes = 8
export const rowBytes = 96

export const numberColumns = [
  'at',
  'bytes_in',
  'bytes_out',
  'duration_us',
  'upstream_us',
] as const satisfies readonly CallColumn[]

export const textColumns = [
  'organization_id',
  'key_id',
  'target_id',
  'method',
  'path',
  'refusal',
  'stopped_at',
  'rule_id',
  'trial_rule_id',
  'address',
  'agent',
  'capture',
] as const satisfies readonly CallColumn[]

export type NumberColumn = (typeof numberColumns)[number]
export type TextColumn = (typeof textColumns)[number]

export const statusAt = 8 * numberColumns.length
export const textsAt = statusAt + 2
export const idAt = textsAt + 2 * textColumns.length
export const idBytes = rowBytes - idAt

/** Stands for a missing `upstream_us`. */
export const noNumber = -1

/** Where a column begins in a row. */
export const placeOf = Object.fromEntries([
  ...numberColumns.map((name, index) => [name, 8 * index]),
  ['status', statusAt],
  ...textColumns.map((name, index) => [name, textsAt + 2 * index]),
  ['id', idAt],
]) as Readonly<Record<CallColumn, number>>
