import type { Latency, Rollup as RollupRecord } from '../../../calls/index.ts'
import { Type, type Static } from '../../../http/index.ts'
import { checks, type Check } from '../../../targets/index.ts'
import { nullable, Time, time } from '../../core/schemas.ts'

const Percentiles = Type.Object(
  { p50_ms: Type.Number(), p95_ms: Type.Number(), p99_ms: Type.Number() },
  { title: 'Latency' },
)

export const Rollup = Type.Object(
  {
    step_ms: Type.Integer(),
    points: Type.Array(
      Type.Object(
        {
          at: Time,
          /** Neither refused by us nor failed at the upstream. */
          passed: Type.Integer(),
          /** Failed while being forwarded, or answered by the upstream with 500 or above. */
          errors: Type.Integer(),
          /** Refused by one of our checks. */
          refused: Type.Integer(),
          latency: Type.Optional(Percentiles),
          /** With `parts`: the 95th percentiles of the upstream's time and of our own. */
          upstream_p95_ms: Type.Optional(Type.Number()),
          own_p95_ms: Type.Optional(Type.Number()),
        },
        { title: 'RollupPoint' },
      ),
    ),
    refused: Type.Object(
      Object.fromEntries(checks.map((check) => [check, Type.Optional(Type.Integer())])) as {
        [C in Check]: ReturnType<typeof optionalInteger>
      },
    ),
    answered: Type.Integer(),
    p95_ms: Type.Optional(Type.Number()),
    latency: Type.Optional(Percentiles),
    /**
     * Whether percentiles are estimates, because there were too many calls to examine or because not every call left a
     * record.
     */
    sampled: Type.Boolean(),
    /** Set if there were too many calls to examine: only calls since this time are counted. */
    searched_back_to: Type.Optional(Time),
  },
  { title: 'Rollup' },
)

/** One group of calls: a key, a target or a code. */
export const TopItem = Type.Object(
  {
    id: Type.String(),
    /** The key's name or the target's slug; null for a code, and if the key or target no longer exists. */
    name: nullable(Type.String()),
    calls: Type.Integer(),
    refused: Type.Integer(),
    errors: Type.Integer(),
  },
  { title: 'TopItem' },
)

export function toRollup(rollup: RollupRecord, stepMs: number): Static<typeof Rollup> {
  const { latency } = rollup
  return {
    step_ms: stepMs,
    points: rollup.points.map((point) => ({
      at: time(point.at),
      passed: point.passed,
      errors: point.errors,
      refused: point.refused,
      ...(point.latency === undefined ? {} : { latency: toPercentiles(point.latency) }),
      ...(point.upstreamP95Ms === undefined ? {} : { upstream_p95_ms: point.upstreamP95Ms }),
      ...(point.ownP95Ms === undefined ? {} : { own_p95_ms: point.ownP95Ms }),
    })),
    refused: rollup.refused,
    answered: rollup.answered,
    ...(latency && { p95_ms: latency.p95Ms, latency: toPercentiles(latency) }),
    sampled: rollup.sampled,
    ...(rollup.searchedBackTo === undefined
      ? {}
      : { searched_back_to: time(rollup.searchedBackTo) }),
  }
}

function toPercentiles({ p50Ms, p95Ms, p99Ms }: Latency): Static<typeof Percentiles> {
  return { p50_ms: p50Ms, p95_ms: p95Ms, p99_ms: p99Ms }
}

function optionalInteger() {
  return Type.Optional(Type.Integer())
}
