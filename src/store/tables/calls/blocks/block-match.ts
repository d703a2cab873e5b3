import { isPacked, parseRows, positionOf } from './call-block.ts'
import {
  callColumns,
  packedColumns,
  type CallColumn,
  type CallValues,
} from '../record/call-columns.ts'
import {
  idRangeOf,
  recordedPrefix,
  type CallFilter,
  type CallSlice,
} from '../record/call-filter.ts'

export interface BlockFilter extends CallFilter, CallSlice {
  /** Only calls that no check stopped, or that one of these checks did. */
  readonly stoppedIn?: readonly string[] | undefined
}

/** The calls to take from blocks, and the columns of theirs to return. */
export interface BlockQuestion {
  readonly filter: BlockFilter
  /** All columns by default. */
  readonly columns?: readonly CallColumn[] | undefined
}

type Test = (row: CallValues) => boolean
type OwnTest = (own: CallValues, at: OwnValues, like: CallValues) => boolean
/** The values in which packed rows differ from the row to which they refer. */
type OwnValues = Readonly<Record<(typeof packedColumns)[number], number>>

/** Takes the rows that match a question from blocks. */
export class BlockMatcher {
  readonly #isCommonGood: Test
  readonly #isOwnGood: OwnTest
  readonly #columns: readonly CallColumn[]

  constructor({ filter, columns = callColumns }: BlockQuestion) {
    this.#isCommonGood = commonTest(filter)
    this.#isOwnGood = ownTest(filter)
    this.#columns = columns
  }

  /** Returns the matching rows of a block. */
  match(rows: string | Uint8Array): CallValues[] {
    const written = parseRows(rows)
    const common: (boolean | undefined)[] = []
    const found: CallValues[] = []
    for (const [index, row] of written.entries()) {
      const likeAt = isPacked(row) ? row[0] : index
      const like = written[likeAt] ?? row
      const isGood = (common[likeAt] ??= this.#isCommonGood(like))
      if (!isGood || !this.#isOwnGood(row, isPacked(row) ? packedAt : positionOf, like)) continue
      found.push(this.#chosen(row, like))
    }
    return found
  }

  #chosen(row: CallValues, like: CallValues): CallValues {
    if (row === like) return this.#columns.map((name) => row[positionOf[name]] ?? null)
    const own: Readonly<Partial<Record<CallColumn, number>>> = packedAt
    return this.#columns.map((name) => {
      const at = own[name]
      return (at === undefined ? like[positionOf[name]] : row[at]) ?? null
    })
  }
}

const packedAt = Object.fromEntries(
  packedColumns.map((name, index) => [name, index + 1]),
) as OwnValues

/** Tests the columns that packed rows share with the row to which they refer. */
function commonTest(filter: BlockFilter): Test {
  const { keyId, targetId, stoppedAt, stoppedIn, method, address, statuses, outcome } = filter
  const wanted = Object.entries({
    ...{ key_id: keyId, target_id: targetId, stopped_at: stoppedAt, method, address },
  }).flatMap(([name, value]) =>
    value === undefined ? [] : [[positionOf[name as CallColumn], value] as const],
  )
  return (row) => {
    for (const [at, value] of wanted) if (row[at] !== value) return false
    const stopped = row[positionOf.stopped_at] ?? null
    if (stoppedIn !== undefined && stopped !== null && !stoppedIn.includes(String(stopped)))
      return false
    const status = Number(row[positionOf.status])
    if (statuses !== undefined && (status < statuses[0] || status >= statuses[1])) return false
    return outcome === undefined || outcomeOf(stopped, status) === outcome
  }
}

function outcomeOf(stoppedAt: string | number | null, status: number): CallFilter['outcome'] {
  if (stoppedAt === 'forward' || (stoppedAt === null && status >= 500)) return 'upstream_error'
  return stoppedAt === null ? 'answered' : 'refused'
}

/** Tests the columns in which packed rows differ. */
function ownTest(filter: CallFilter & CallSlice): OwnTest {
  const { id, path, from = -Infinity, to = Infinity, endedFrom = -Infinity, words } = filter
  const { after = '', first = '', behind = '\u{10ffff}' } = idRangeOf(filter)
  const text = words?.text.toLowerCase()
  const keys = new Set(words?.keyIds)
  return (own, at, like) => {
    const ownId = String(own[at.id])
    if (ownId <= after || ownId < first || ownId >= behind) return false
    if (id !== undefined && ownId !== id) return false
    const time = Number(own[at.at])
    if (time < from || time >= to) return false
    if (time + Math.floor(Number(own[at.duration_us]) / 1000) < endedFrom) return false
    const ownPath = String(own[at.path])
    if (path !== undefined && !ownPath.startsWith(path)) return false
    if (text === undefined || keys.has(String(like[positionOf.key_id]))) return true
    return ownPath.slice(recordedPrefix.length).toLowerCase().includes(text)
  }
}
