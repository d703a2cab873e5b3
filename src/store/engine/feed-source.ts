import { sql, type RawBuilder } from 'kysely'
import { storedChange, type Change } from '../db/changes.ts'
import type { ServerMark } from '../db/db.ts'
import { keepQuery } from '../db/kept-query.ts'
import type { DatabaseClock } from '../feed/database-clock.ts'
import type { FeedSource } from '../feed/feed-deps.ts'
import { serverNow } from '../tables/nodes/database-server.ts'
import type { EngineHandle } from './engine.ts'

interface Row {
  readonly now: number | null
  readonly identity: string
  readonly started_at: string
  readonly sequence: number | null
  readonly token: string | null
  readonly kind: string | null
  readonly organization_id: string | null
  readonly subject_id: string | null
}

/**
 * Creates a source of the feed that reads the table of changes over the background connections. If there is a clock
 * that follows the database's, each read of changes is also a sample for it.
 */
export function createFeedSource(
  handle: EngineHandle,
  clock: Pick<DatabaseClock, 'sample'> | undefined,
): FeedSource {
  const db = { query: handle.background.query, engine: handle.engine }
  // One statement, so that the server's identity and the feed's contents come from the same moment.
  const statement = (page: RawBuilder<unknown>): RawBuilder<Row> => sql<Row>`
    select server.identity, server.started_at, server.now, page.*
    from (select ${handle.serverIdentity()} as identity, ${handle.serverStart()} as started_at,
      ${serverNow(db)} as now) as server
    left join (
      select sequence, token, kind, organization_id, subject_id from change ${page}
    ) as page on true
    order by page.sequence`
  const from = ({ sequence, limit }: { sequence: number; limit: number }): RawBuilder<Row> =>
    statement(sql`where sequence >= ${sequence} order by sequence limit ${limit}`)
  const keptFrom = keepQuery(['sequence', 'limit'], ({ query }, marks) => ({
    compile: () => from(marks).compile(query),
  }))
  /** On PostgreSQL the query is built only once, because an idle node does little but run it. */
  async function readFrom(page: { sequence: number; limit: number }): Promise<readonly Row[]> {
    // On SQLite the query contains the identity as a value, which changes when another file replaces the database.
    if (db.engine === 'sqlite') return (await from(page).execute(db.query)).rows
    if (clock === undefined) return await keptFrom(db, page)
    let rows: readonly Row[] = []
    await clock.sample(async () => {
      rows = await keptFrom(db, page)
      return rows[0]?.now ?? undefined
    })
    return rows
  }
  return {
    get pace() {
      return handle.pace
    },
    hasForeignCommit: async () => await handle.hasForeignCommit(),
    async read({ sequence }, limit) {
      return pageOf(await readFrom({ sequence, limit }))
    },
    async head() {
      const { rows } = await statement(sql`order by sequence desc limit 1`).execute(db.query)
      const { server, changes } = pageOf(rows)
      const { sequence, token } = changes[0] ?? { sequence: 0, token: '' }
      return { server, mark: { sequence, token } }
    },
    listen: (onHint) => handle.listen(onHint),
  }
}

function pageOf(rows: readonly Row[]): { server: ServerMark; changes: readonly Change[] } {
  return { server: serverOf(rows), changes: rows.flatMap(changeOf) }
}

function serverOf([first]: readonly Row[]): ServerMark {
  return { identity: first?.identity ?? '', startedAt: first?.started_at ?? '' }
}

function changeOf(row: Row): Change[] {
  const { sequence, token, kind, organization_id: organizationId, subject_id: subjects } = row
  if (sequence === null) return []
  const stored = {
    kind: kind ?? '',
    organizationId: organizationId ?? '',
    subjects: subjects ?? '',
  }
  return [storedChange({ sequence, token: token ?? '' }, stored)]
}
