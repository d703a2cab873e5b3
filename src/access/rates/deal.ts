import type { rateShares } from '../../store/index.ts'

type RateShareRecord = rateShares.RateShareRecord

/** A whole rate in the unit of shares. */
export const whole = 1_000_000

/** What a node wants of one subject's rate. */
export interface ShareRequest {
  readonly subjectId: string
  readonly organizationId: string
  readonly nodeId: string
  /** The share it wants to hold; with `start` or `more` it is given part of the share that no node holds. */
  readonly want: number | 'start' | 'more'
  /** The least share that lets a call pass, and the least that lets those pass that wait. */
  readonly least: number
  readonly leastNow: number
  readonly demand: number
  readonly short: boolean
  /** Milliseconds until the node's own bucket is whole. */
  readonly wholeInMs: number
  /** How long an empty bucket takes to be whole. */
  readonly emptyMs: number
}

/** What became of a request. */
export interface Dealt {
  readonly share: number
  readonly wholeInMs: number
  readonly rows: readonly RateShareRecord[]
  readonly gone: readonly RateShareRecord[]
  /** Who holds what afterwards, without this node. */
  readonly others: readonly RateShareRecord[]
}

/**
 * Divides a rate among nodes, by what is written of it under a lock: all shares together never exceed the whole. A share
 * moves with what was spent of it, so that moving it refills nothing.
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
  const own = held.find(({ nodeId }) => nodeId === request.nodeId)?.share ?? 0
  let free = Math.max(0, whole - own - sumOf(others) - sumOf(dead))
  // Nobody has written of it: what is spent of it was spent here, while this node was alone.
  const isNew = held.length === 0 && (marker === undefined || marker.wholeAt === 0)
  let freeWholeInMs = isNew ? request.wholeInMs : Math.max(0, (marker?.wholeAt ?? 0) - now)
  for (const { share } of dead) {
    // What a dead node has spent is not known: as if it had spent all.
    freeWholeInMs = mixed([free, freeWholeInMs], [share, request.emptyMs])
    free += share
  }
  const want = wantedOf(request, own, free)
  let share = own
  let wholeInMs = request.wholeInMs
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
  const { subjectId, organizationId, nodeId, demand, short } = request
  const mine = { subjectId, nodeId, organizationId, share, demand, short, wholeAt: now + wholeInMs }
  const rest = {
    ...mine,
    nodeId: '',
    share: 0,
    demand: 0,
    short: false,
    wholeAt: now + freeWholeInMs,
  }
  // A row without a share stays while others have one: it tells them that there is something to be had.
  const isMineGone = share === 0 && !short && others.length === 0
  const isAllGone = isMineGone && freeWholeInMs === 0
  return {
    ...{ share, wholeInMs, others },
    rows: [...(isMineGone ? [] : [mine]), ...(isAllGone ? [] : [rest])],
    gone: [...dead, ...(isMineGone ? [mine] : []), ...(isAllGone ? [rest] : [])],
  }
}

function wantedOf({ want, leastNow }: ShareRequest, own: number, free: number): number {
  if (typeof want === 'number') return want
  const part = want === 'start' ? free / 4 : free / 2
  return Math.min(whole, own + Math.max(Math.ceil(part), leastNow))
}

function sumOf(records: readonly RateShareRecord[]): number {
  return records.reduce((sum, { share }) => sum + share, 0)
}

/** The time until two parts are whole when they are one. */
function mixed(one: readonly [number, number], other: readonly [number, number]): number {
  const sum = one[0] + other[0]
  return sum === 0 ? 0 : (one[0] * one[1] + other[0] * other[1]) / sum
}
