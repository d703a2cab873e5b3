import { sql } from 'kysely'
import { storedChange, type Change } from '../db/changes.ts'
import type { ServerMark } from '../db/db.ts'
import type { FeedSource } from '../feed/feed.ts'
import type { EngineHandle } from './engine.ts'

interface Row {
  readonly identity: string
  readonly started_at: string
  readonly sequence: number | null
  readonly token: string | null
  readonly kind: string | null
  readonly organization_id: string | null
  readonly subject_id: string | null
}

/**
 * Creates the source of the feed: it reads the table of changes over the background connections. The engine says how
 * often to poll that table and hints at new changes in between.
 */
export function createFeedSource(handle: EngineHandle): FeedSource {
  const at = handle.background
  async function read(where: 'from' | 'head', sequence: number, limit: number) {
    const page =
      where === 'from'
        ? sql`where sequence >= ${sequence} order by sequence limit ${sql.lit(limit)}`
        : sql`order by sequence desc limit 1`
    // One statement, so that the server's identity and the feed's contents come from the same moment.
    const { rows } = await sql<Row>`
      select server.identity, server.started_at, page.*
      from (select ${handle.serverIdentity()} as identity, ${handle.serverStart()} as started_at) as server
      left join (
        select sequence, token, kind, organization_id, subject_id from change ${page}
      ) as page on true
      order by page.sequence`.execute(at.query)
    return { server: serverOf(rows), changes: rows.flatMap(changeOf) }
  }
  return {
    get pace() {
      return handle.pace
    },
    hasForeignCommit: async () => await handle.hasForeignCommit(),
    read: async (from, limit) => await read('from', from.sequence, limit),
    async head() {
      const { server, changes } = await read('head', 0, 1)
      const { sequence, token } = changes[0] ?? { sequence: 0, token: '' }
      return { server, mark: { sequence, token } }
    },
    listen: (onHint) => handle.listen(onHint),
  }
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
