import { sql } from 'kysely'
import pg from 'pg'
import { subjectText, type Change, type ChangeDraft } from '../../db/changes.ts'
import type { Tx } from '../../db/db.ts'
import { randomHex } from '../../../secrets/index.ts'
import { andCommit } from './pool.ts'

// The advisory lock under which all nodes number changes, so that sequence numbers follow the order of commits.
const changeLock = 7263941
const tokenBytes = 8

/**
 * Writes changes and commits in a single message, so that a node that pauses or loses its connection cannot keep
 * `changeLock`. Bound parameters would need several messages, so values are quoted into the text.
 */
export async function commitChanges(tx: Tx, drafts: readonly ChangeDraft[]): Promise<Change[]> {
  const changes = drafts.map((draft) => ({ ...draft, token: randomHex(tokenBytes) }))
  const texts = (values: readonly string[]): string =>
    `array[${values.map((value) => pg.escapeLiteral(value)).join(', ')}]::text[]`
  const { rows } = await sql<{ sequence: number }>`${sql.raw(`
    with locked as materialized (select pg_advisory_xact_lock(${changeLock})),
    written as (
      insert into change (kind, organization_id, subject_id, token, at)
      select draft.kind, draft.organization_id, draft.subject_id, draft.token, ${Math.round(tx.now)}
      from locked, unnest(
        ${texts(changes.map(({ kind }) => kind))},
        ${texts(changes.map(({ organizationId }) => organizationId))},
        ${texts(changes.map(subjectText))},
        ${texts(changes.map(({ token }) => token))}
      ) with ordinality as draft (kind, organization_id, subject_id, token, place)
      order by draft.place
      returning sequence, token
    ),
    notified as (
      select pg_notify('intercept_change', last.sequence || ' ' || last.token)
      from (select sequence, token from written order by sequence desc limit 1) as last
    )
    select sequence from written, notified order by sequence${andCommit}`)}`.execute(tx.query)
  // The rows are in the order of the drafts.
  return rows.flatMap(({ sequence }, at) => {
    const change = changes[at]
    return change === undefined ? [] : [{ ...change, sequence }]
  })
}
