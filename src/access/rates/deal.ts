import type { rateShares } from '../../store/index.ts'

type RateShareRecord = rateShares.RateShareRecord

/** A whole rate: shares are counted in millionths of it. */
export const whole = 1_000_000

/** A node's request for a share of one subject's rate. */
export interface ShareRequest {
  readonly subjectId: string
  readonly organizationId: string
  readonly nodeId: string
  /** The share that the node wants to hold; `start` and `more` ask for a part of whatever no node holds. */
  readonly want: number | 'start' | 'more'
  /** The smallest share that lets one call pass; `leastNow` is the smallest for all waiting calls and one more. */
  readonly least: number
  readonly leastNow: number
  /** The share that the node needs for all calls that it currently gets. */
  readonly need: number
  readonly demand: number
  readonly short: boolean
  /** Milliseconds until the node's own bucket is full again. */
  readonly wholeInMs: number
  /** Milliseconds that an empty bucket takes to fill. */
  readonly emptyMs: number
}

/** The share that a node gets for its request, and the rows to write and to delete. */
export interface Dealt {
  readonly share: number
  /** Whether the node still needs more than it holds. */
  readonly short: boolean
  readonly wholeInMs: number
  readonly rows: readonly RateShareRecord[]
  readonly gone: readonly RateShareRecord[]
  /** The rows of all other live nodes. */
  readonly others: readonly RateShareRecord[]
}

/**
 * Divides a rate among nodes based on the rate's rows, which the caller has locked. All shares together never exceed
 * the whole. When a share moves to another node, what was spent of it moves too, so that moving a share never refills
 * it.
 */
export function deal(
  request: ShareRequest,
  known: readonly RateShareRecord[],
  nodes: rateShares.RateNodes,
): Dealt {
  const { now, live } = nodes
  const held = known.filter(({ nodeId }) => nodeId !== '')
  const marker = known.find(({ nodeId }) => nodeId === '')
  const dead = held.filter(({ nodeId }) => nodeId !== request.nodeId && !live.has(nodeId))
  const others = held.filter(({ nodeId }) => nodeId !== request.nodeId && live.has(nodeId))
  const before = held.find(({ nodeId }) => nodeId === request.nodeId)
  const own = before?.share ?? 0
  let free = Math.max(0, whole - own - sumOf(others) - sumOf(dead))
  // If no node has a row yet, this node was alone until now, and all spending was its own.
  const isNew = held.length === 0 && (marker === undefined || marker.wholeAt === 0)
  let freeWholeInMs = isNew ? request.wholeInMs : Math.max(0, (marker?.wholeAt ?? 0) - now)
  for (const { share } of dead) {
    // How much of its share a dead node had spent is unknown, so all of it counts as spent.
    freeWholeInMs = mixed([free, freeWholeInMs], [share, request.emptyMs])
    free += share
  }
  const want = wantedOf(request, { own, free, others })
  let share = own
  // If the response to an earlier commit was lost, the row may show more spending than the node remembers.
  let wholeInMs = Math.max(request.wholeInMs, (before?.wholeAt ?? 0) - now)
  if (want < own) {
    freeWholeInMs = mixed([free, freeWholeInMs], [own - want, wholeInMs])
    free += own - want
    share = want
  } else {
    const taken = Math.min(free, want - own)
    if (own + taken >= request.least && taken > 0) {
      const spentBefore = own === 0 ? wholeInMs : 0
      wholeInMs = Math.max(spentBefore, mixed([own, wholeInMs], [taken, freeWholeInMs]))
      free -= taken
      share = own + taken
    }
  }
  const { subjectId, organizationId, nodeId, demand } = request
  const short = request.want === 'start' ? share < request.leastNow : request.short
  const mine = { subjectId, nodeId, organizationId, share, demand, short, wholeAt: now + wholeInMs }
  const rest = {
    ...mine,
    nodeId: '',
    share: 0,
    demand: 0,
    short: false,
    wholeAt: now + freeWholeInMs,
  }
  // A row without a share stays while other nodes have rows: it tells them that part of the rate is free.
  const isMineGone = share === 0 && !short && others.length === 0
  const isAllGone = isMineGone && freeWholeInMs === 0
  return {
    ...{ share, short, wholeInMs, others },
    rows: [...(isMineGone ? [] : [mine]), ...(isAllGone ? [] : [rest])],
    gone: [...dead, ...(isMineGone ? [mine] : []), ...(isAllGone ? [rest] : [])],
  }
}

function wantedOf(
  { want, leastNow, need, demand }: ShareRequest,
  {
    own,
    free,
    others,
  }: {
    readonly own: number
    readonly free: number
    readonly others: readonly RateShareRecord[]
  },
): number {
  if (typeof want === 'number') return want
  if (want === 'more' && others.some(({ short }) => short)) {
    // Takes at most a fair part; more would take back what this node has just given up for the node that is short.
    const sum = others.reduce((all, other) => all + other.demand, demand)
    return sum === 0 ? own : Math.max(own, Math.floor((whole * demand) / sum))
  }
  if (want === 'start') return Math.min(whole, own + Math.max(Math.ceil(free / 4), leastNow))
  // Allows twice the need, because calls do not arrive evenly.
  const most = Math.max(own + leastNow, 2 * need)
  return Math.min(whole, most, own + Math.max(Math.ceil(free / 2), leastNow))
}

function sumOf(records: readonly RateShareRecord[]): number {
  return records.reduce((sum, { share }) => sum + share, 0)
}

/**
 * Returns how long two parts of a rate, given as size and time to fill, take to fill when combined: the mean of the two
 * times, weighted by size.
 */
function mixed(one: readonly [number, number], other: readonly [number, number]): number {
  const sum = one[0] + other[0]
  return sum === 0 ? 0 : (one[0] * one[1] + other[0] * other[1]) / sum
}
