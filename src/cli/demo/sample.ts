import { createId, type KeyId, type OrganizationId, type TargetId } from '../../ids.ts'
import { countsOf } from '../../calls/index.ts'
import { rowsOf, type CallRecord, type Store } from '../../store/index.ts'
import { dayMs, minuteMs } from '../../units.ts'

const days = 7
/** The average number of calls on a weekday; weekends have fewer. */
const callsPerDay = 320

/** The keys and targets that appear in the sample calls. */
export interface SampleCast {
  readonly organizationId: OrganizationId
  /** The key used by most calls. */
  readonly worker: KeyId
  readonly report: KeyId
  /** A target that responds. */
  readonly healthy: TargetId
  /** A target that has been unreachable since yesterday. */
  readonly broken: TargetId
  readonly ruleId: string | undefined
}

interface Scene {
  readonly share: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly refusal?: string
  readonly stoppedAt?: string
  readonly isBroken?: boolean
}

const scenes: readonly Scene[] = [
  { share: 46, method: 'GET', path: '/orders', status: 200 },
  { share: 18, method: 'GET', path: '/orders/1041', status: 200 },
  { share: 12, method: 'POST', path: '/orders', status: 201 },
  { share: 6, method: 'GET', path: '/orders/9999', status: 404 },
  { share: 3, method: 'PATCH', path: '/orders/1041', status: 200 },
  { share: 2, method: 'GET', path: '/reports/monthly', status: 500 },
  {
    share: 3,
    method: 'DELETE',
    path: '/admin/users/7',
    status: 403,
    refusal: 'rule_denied',
    stoppedAt: 'rules',
  },
  {
    share: 2,
    method: 'GET',
    path: '/orders',
    status: 429,
    refusal: 'rate_limited',
    stoppedAt: 'limits',
  },
  { share: 8, method: 'GET', path: '/stock', status: 200, isBroken: true },
]

/** Writes seven days of invented calls, which follow the same pattern in every demo. */
export async function writeSample(store: Store, cast: SampleCast, nowMs: number): Promise<void> {
  const records = makeCalls(cast, nowMs)
  await store.insertCalls(rowsOf(records), countsOf(records))
}

function makeCalls(cast: SampleCast, nowMs: number): CallRecord[] {
  const random = repeatable(20_261_121)
  const records: CallRecord[] = []
  for (let at = nowMs - days * dayMs; at < nowMs - minuteMs;) {
    at += Math.round((dayMs / callsPerDay / busyness(at)) * (0.2 + 1.6 * random()))
    if (at < nowMs - minuteMs) records.push(makeCall(cast, { at, nowMs }, random))
  }
  return records
}

function makeCall(
  cast: SampleCast,
  { at, nowMs }: { readonly at: number; readonly nowMs: number },
  random: () => number,
): CallRecord {
  const scene = pickScene(random)
  const isDown = scene.isBroken === true && at > nowMs - dayMs
  const upstreamUs = Math.round(8000 + 40_000 * random() ** 3)
  const isForwarded = scene.refusal === undefined
  return {
    id: createId('req', at),
    at,
    organizationId: cast.organizationId,
    keyId: random() < 0.7 ? cast.worker : cast.report,
    targetId: scene.isBroken === true ? cast.broken : cast.healthy,
    method: scene.method,
    path: `/api/v1/intercept/${scene.isBroken === true ? 'stock' : 'echo'}${scene.path}`,
    status: isDown ? 502 : scene.status,
    refusal: isDown ? 'upstream_unreachable' : scene.refusal,
    stoppedAt: isDown ? 'forward' : scene.stoppedAt,
    ruleId: scene.refusal === 'rule_denied' ? cast.ruleId : undefined,
    trialRuleId: undefined,
    bytesIn: scene.method === 'GET' ? 0 : 240,
    bytesOut: Math.round(300 + 2000 * random()),
    durationUs: (isForwarded ? upstreamUs : 0) + Math.round(200 + 300 * random()),
    upstreamUs: isForwarded && !isDown ? upstreamUs : undefined,
    address: random() < 0.8 ? '127.0.0.1' : '::1',
    agent: random() < 0.6 ? 'orders-worker/3.2' : 'curl/8.9.1',
    capture: undefined,
  }
}

function pickScene(random: () => number): Scene {
  let left = random() * scenes.reduce((sum, { share }) => sum + share, 0)
  for (const scene of scenes) {
    left -= scene.share
    if (left <= 0) return scene
  }
  return scenes[0] ?? { share: 1, method: 'GET', path: '/', status: 200 }
}

/** How busy a time is: from 0.3 at midnight to 1.7 at noon (UTC) on weekdays, and 0.4 throughout the weekend. */
function busyness(at: number): number {
  const date = new Date(at)
  if (date.getUTCDay() % 6 === 0) return 0.4
  return 1 - 0.7 * Math.cos((date.getUTCHours() / 12) * Math.PI)
}

/**
 * Yields the same numbers between 0 and 1 in every demo (a linear congruential generator; its quality does not matter).
 */
function repeatable(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
