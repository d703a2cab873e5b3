import { sql } from 'kysely'
import { idBound, type OrganizationId } from '../../../../ids.ts'
import type { Db } from '../../../db/db.ts'
import type { BlockQuestion } from './block-match.ts'
import { readNewest } from './block-search.ts'
import { maxBlockSpanMs } from './call-block.ts'
import type { CallValues } from '../record/call-columns.ts'
import type { Percentiles, SampleSize, TimedPart, TimedRange } from '../record/timed-range.ts'

interface TimedCall {
  readonly step: number
  readonly durationUs: number
  readonly upstreamUs: number | null
}

/** Exact percentiles of each step and of all steps together; reads every matching call. */
export async function percentilesOfBlocks(
  db: Db,
  organizationId: OrganizationId,
  { parts, stepMs, ...filter }: TimedRange,
): Promise<Percentiles[]> {
  const columns = ['at', 'duration_us', 'upstream_us'] as const
  const rows = await readNewest(db, organizationId, { filter, limit: Infinity, columns })
  const timed = rows.map(({ at, duration_us, upstream_us }) => ({
    step: Math.floor((at - filter.from) / stepMs),
    durationUs: duration_us,
    upstreamUs: upstream_us,
  }))
  return percentilesOf(timed, parts)
}

/**
 * Percentiles of a sample: up to `limit` calls of each step that match the filter, from its newest blocks with about as
 * many calls.
 */
export async function sampledPercentilesOfBlocks(
  db: Db,
  organizationId: OrganizationId,
  { range, size }: { readonly range: TimedRange; readonly size: SampleSize },
): Promise<Percentiles[]> {
  const each = Array.from({ length: size.steps }, (_, step) =>
    blocksOfStep(organizationId, range, { step, limit: size.limit }),
  )
  const { rows: steps } = await sql<{ step: number; found: string }>`
    select sampled.step, newest_rows(stored.rows, sampled.question) as found
    from (${sql.join(each, sql` union all `)}) as sampled
    join call_block_rows as stored on stored.no = sampled.no
    where sampled.newer < ${sql.lit(size.limit)} group by sampled.step`.execute(db.query)
  const timed = steps.flatMap(({ step, found }) =>
    (JSON.parse(found) as CallValues[]).map(([, durationUs, upstreamUs]): TimedCall => ({
      step,
      durationUs: Number(durationUs),
      upstreamUs: typeof upstreamUs === 'number' ? upstreamUs : null,
    })),
  )
  return percentilesOf(timed, range.parts)
}

function blocksOfStep(
  organizationId: OrganizationId,
  { from, to, stepMs, parts: _parts, ...filter }: TimedRange,
  { step, limit }: { readonly step: number; readonly limit: number },
) {
  const { keyId } = filter
  const start = from + step * stepMs
  const end = Math.min(to, start + stepMs)
  const [first, behind] = [idBound('req', start), idBound('req', end)]
  const question: BlockQuestion = {
    filter: { ...filter, downTo: first, before: behind },
    columns: ['id', 'duration_us', 'upstream_us'],
    limit,
  }
  const table = keyId === undefined ? sql`call_block` : sql`call_block_key`
  const ofKey = keyId === undefined ? sql`` : sql` and key_id = ${keyId}`
  return sql`select ${sql.lit(step)} as step, no, ${JSON.stringify(question)} as question,
      sum(calls) over (order by last_id desc rows unbounded preceding) - calls as newer
    from (select last_id, no, calls from ${table}
      where organization_id = ${organizationId}${ofKey} and last_id >= ${first}
        and last_id < ${idBound('req', end + maxBlockSpanMs)} and first_id < ${behind}
      order by last_id desc limit ${sql.lit(limit)})`
}

function percentilesOf(calls: readonly TimedCall[], parts: readonly TimedPart[]): Percentiles[] {
  return parts.flatMap((part) => {
    const steps = new Map<number, number[]>()
    for (const call of calls) {
      const us = partOf(call, part)
      if (us === null) continue
      for (const step of [call.step, -1]) {
        const known = steps.get(step)
        if (known === undefined) steps.set(step, [us])
        else known.push(us)
      }
    }
    return [...steps]
      .toSorted(([one], [other]) => one - other)
      .map(([step, all]) => ({ part, step, calls: all.length, ...ranksOf(all) }))
  })
}

function partOf({ durationUs, upstreamUs }: TimedCall, part: TimedPart): number | null {
  if (part === 'all') return durationUs
  return part === 'upstream' ? upstreamUs : durationUs - (upstreamUs ?? 0)
}

/** Percentiles by nearest rank: the smallest value that at least this share of the calls did not exceed. */
function ranksOf(all: readonly number[]): Pick<Percentiles, 'p50' | 'p95' | 'p99'> {
  const sorted = Float64Array.from(all).sort()
  const at = (share: number): number => sorted[Math.ceil((sorted.length * share) / 100) - 1] ?? 0
  return { p50: at(50), p95: at(95), p99: at(99) }
}
