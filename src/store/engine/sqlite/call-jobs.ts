import type Database from 'better-sqlite3'
import { idBound } from '../../../ids.ts'
import {
  deletionOf,
  nextNumberText,
  restOfBlock,
  startOfBlock,
  type Statement,
} from '../../tables/calls/blocks/block-statements.ts'
import {
  blocksOf,
  blocksOfParts,
  keyIdsOf,
  maxBlockSpanMs,
  maxNewSpanMs,
  recordsOf,
  type CallBlock,
  type RowsPart,
} from '../../tables/calls/blocks/call-block.ts'
import type { OldCalls } from '../../tables/calls/calls.ts'
import { addRowText, type CountRows } from '../../tables/calls/count-rows.ts'
import type { CallRecord } from '../../tables/calls/record/call-record.ts'

/** Bounds the work of a merge or a deletion, together with the limit on calls. */
const maxBlocksAtOnce = 64
/** The most calls that one job merges. */
const maxMerged = 512

/** A batch for one commit: call records and counts. */
export interface CallBatch {
  readonly parts: readonly RowsPart[]
  readonly counts: readonly CountRows[]
}

/** Work on the file of call records, for one commit. */
export type CallJob =
  | ({ readonly kind: 'insert' } & CallBatch)
  /** Merges small blocks whose calls all arrived before this time. */
  | { readonly kind: 'merge'; readonly olderThanMs: number }
  | ({ readonly kind: 'forget' } & OldCalls)

/** The reply of a thread to a job: whether more is left of it, or why it was not done. */
export type CallJobDone =
  | { readonly isMore: boolean }
  | { readonly error: string; readonly code: string | undefined }

/** A block in the list of blocks. */
interface ListedBlock {
  readonly organizationId: string
  readonly lastId: string
  readonly no: number
  readonly calls: number
}

/**
 * Returns a function that does a job in one commit and returns whether more is left of it. It calls `between` after each
 * small piece of work.
 */
export function createCallJobs(
  database: Database.Database,
  between: () => void = () => undefined,
): (job: CallJob) => boolean {
  const jobs = new CallJobs(database, between)
  const transaction = database.transaction((job: CallJob) => jobs.run(job))
  return (job) => transaction.immediate(job)
}

class CallJobs {
  readonly #database: Database.Database
  readonly #between: () => void
  readonly #prepared = new Map<string, Database.Statement>()

  constructor(database: Database.Database, between: () => void) {
    this.#database = database
    this.#between = between
  }

  run(job: CallJob): boolean {
    if (job.kind === 'merge') return this.#merge(job.olderThanMs)
    if (job.kind === 'forget') return this.#forget(job)
    this.#insert(job)
    return false
  }

  #insert({ parts, counts }: CallBatch): void {
    const { blocks, added } = this.#add(blocksOfParts(parts, maxNewSpanMs), true)
    // If every block exists already, an earlier try was committed, and only its reply was lost.
    if (blocks > 0 && added === 0) return
    for (const { table, json } of counts) {
      const text = addRowText(table)
      for (const row of JSON.parse(json) as unknown[][]) {
        this.#change([text, row])
        this.#between()
      }
    }
  }

  /**
   * Merges some small blocks with their neighbours: an organization with few calls gets a block every quarter of a
   * second, and a search reads hundreds of such blocks more slowly than a few large ones.
   */
  #merge(olderThanMs: number): boolean {
    const found = this.#statement(smallText).all(idBound('req', olderThanMs)) as ListedBlock[]
    let calls = 0
    const blocks = found.filter((block) => (calls += block.calls) <= maxMerged)
    for (const group of Map.groupBy(blocks, (block) => block.organizationId).values()) {
      this.#mergeAll(group)
    }
    return blocks.length < found.length || found.length === maxBlocksAtOnce
  }

  /** Merges blocks of one organization; if that makes no fewer blocks, they are not considered again. */
  #mergeAll(blocks: readonly ListedBlock[]): void {
    const merged = blocks.length === 1 ? undefined : this.#mergedOf(blocks)
    if (merged === undefined || merged.length >= blocks.length) {
      for (const { organizationId, lastId } of blocks) {
        this.#change([keepText, [organizationId, lastId]])
      }
      return
    }
    this.#delete(blocks)
    const { added } = this.#add(merged, false)
    if (added < merged.length) throw new Error('a merged block of call records exists already')
  }

  /** Returns the merged blocks; undefined if the file is damaged and lacks the rows of one. */
  #mergedOf(blocks: readonly ListedBlock[]): CallBlock[] | undefined {
    const records: CallRecord[] = []
    for (const block of blocks) {
      const rows = this.#rowsOf(block)
      if (rows === undefined) return undefined
      records.push(...recordsOf(rows))
      this.#between()
    }
    return blocksOf(records, maxBlockSpanMs, this.#between)
  }

  /** Deletes the oldest of an organization's blocks whose calls are all old, with about `limit` calls together. */
  #forget({ organizationId, beforeId, limit }: OldCalls): boolean {
    const found = this.#statement(oldText).all(organizationId, beforeId) as ListedBlock[]
    let calls = 0
    const due = found.filter((block) => {
      const isDue = calls < limit
      calls += block.calls
      return isDue
    })
    this.#delete(due)
    return due.length < found.length || found.length === maxBlocksAtOnce
  }

  #add(list: Iterable<CallBlock>, mayMerge: boolean): { blocks: number; added: number } {
    let no = this.#statement(nextNumberText).pluck().get() as number
    let [blocks, added] = [0, 0]
    for (const block of list) {
      blocks++
      if (this.#change(startOfBlock(block, no, mayMerge)) > 0) {
        for (const statement of restOfBlock(block, no)) this.#change(statement)
        added++
        no++
      }
      this.#between()
    }
    return { blocks, added }
  }

  #delete(blocks: readonly ListedBlock[]): void {
    for (const block of blocks) {
      const rows = this.#rowsOf(block)
      const keyIds = rows === undefined ? [] : keyIdsOf(rows)
      for (const statement of deletionOf(block, keyIds)) this.#change(statement)
      this.#between()
    }
  }

  #rowsOf({ no }: ListedBlock): Buffer | undefined {
    return this.#statement(rowsText).pluck().get(no) as Buffer | undefined
  }

  #change([text, parameters]: Statement): number {
    return this.#statement(text).run(parameters).changes
  }

  #statement(text: string): Database.Statement {
    const statement = this.#prepared.get(text) ?? this.#database.prepare(text)
    this.#prepared.set(text, statement)
    return statement
  }
}

const columns = 'organization_id as organizationId, last_id as lastId, no, calls'
const smallText = `select ${columns} from call_block indexed by call_block_small
  where may_merge = 1 and last_id < ? order by organization_id, last_id limit ${maxBlocksAtOnce}`
const oldText = `select ${columns} from call_block
  where organization_id = ? and last_id < ? order by last_id limit ${maxBlocksAtOnce}`
const rowsText = 'select rows from call_block_rows where no = ?'
const keepText = 'update call_block set may_merge = 0 where organization_id = ? and last_id = ?'
