import { maxBlockRows, type CallBlock } from './call-block.ts'

/** A statement with its parameters. */
export type Statement = readonly [text: string, parameters: readonly unknown[]]

/** Blocks with fewer calls may be merged later. */
const minFullRows = maxBlockRows / 2

/** The number for the next block; the others of a transaction follow it. */
export const nextNumberText = 'select coalesce(max(no), 0) + 1 as next from call_block_rows'

/**
 * Adds a block with this number to the list of blocks, unless it is there already because an earlier try was committed.
 * `restOfBlock` must follow if, and only if, this changes a row.
 */
export function startOfBlock(block: CallBlock, no: number, mayMerge = true): Statement {
  const { organizationId, lastId, firstId, calls, failed } = block
  const isSmall = calls < minFullRows
  const values = [organizationId, lastId, firstId, calls, failed, isSmall && mayMerge ? 1 : 0, no]
  return [startText, values]
}

export function restOfBlock({ keys, rows, ...block }: CallBlock, no: number): Statement[] {
  const { organizationId, lastId, firstId } = block
  const list = keys.map(([keyId, calls]): Statement => {
    return [keyText, [organizationId, keyId, lastId, firstId, calls, no]]
  })
  return [[rowsText, [no, rows]], ...list]
}

/** Returns the statements that delete the block with this number, whose calls have these keys. */
export function deletionOf(
  {
    organizationId,
    lastId,
    no,
  }: Pick<CallBlock, 'organizationId' | 'lastId'> & { readonly no: number },
  keyIds: readonly string[],
): Statement[] {
  const list = keyIds.map((keyId): Statement => [deleteKeyText, [organizationId, keyId, lastId]])
  return [...list, [deleteRowsText, [no]], [deleteText, [organizationId, lastId]]]
}

const startText = `insert into call_block (organization_id, last_id, first_id, calls, failed, may_merge, no)
  values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
const rowsText = 'insert into call_block_rows (no, rows) values (?, ?)'
const keyText = `insert into call_block_key (organization_id, key_id, last_id, first_id, calls, no)
  values (?, ?, ?, ?, ?, ?)`
const deleteText = 'delete from call_block where organization_id = ? and last_id = ?'
const deleteRowsText = 'delete from call_block_rows where no = ?'
const deleteKeyText =
  'delete from call_block_key where organization_id = ? and key_id = ? and last_id = ?'
