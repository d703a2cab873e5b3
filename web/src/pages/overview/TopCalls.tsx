import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode, RefCallback } from 'react'
import type { Answer } from '../../api/call.ts'
import { topQuery } from '../../api/traffic.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { count } from '../../parts/numbers.ts'
import type { RangeSearch } from '../../parts/range.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { useQuiet } from '../../parts/useQuiet.ts'
import { useSeen } from '../../parts/useSeen.ts'
import classes from './overview.module.css'

type Row = Answer<'GET /organizations/:organization/calls/top'>['keys'][number]

export function TopCalls({
  organization,
  range,
}: {
  readonly organization: string
  readonly range: RangeSearch
}) {
  const [place, isSeen] = useSeen<HTMLDivElement>()
  const isQuiet = useQuiet()
  // Requested after the rest of the page, because with a million calls this response takes longest.
  const top = useQuery({ ...topQuery(organization, range), enabled: isSeen && isQuiet })
  if (top.data === undefined)
    return (
      <div ref={place} className={classes.topsWait}>
        {isSeen ? <QueryState query={top} /> : undefined}
      </div>
    )
  const { searched_back_to: searchedBackTo } = top.data
  return (
    <>
      {searchedBackTo === undefined ? undefined : (
        <p className="muted">
          {w.countedBackTo} <Time at={searchedBackTo} form="row" />
        </p>
      )}
      <TopLists place={place} organization={organization} range={range} top={top.data} />
    </>
  )
}

function TopLists({
  place,
  organization,
  range,
  top: { keys, targets, codes },
}: {
  readonly place: RefCallback<HTMLDivElement>
  readonly organization: string
  readonly range: RangeSearch
  readonly top: Answer<'GET /organizations/:organization/calls/top'>
}) {
  const params = { organization }
  return (
    <div ref={place} className={classes.tops}>
      <TopList
        title={w.topKeys}
        rows={keys}
        name={(row) => (
          <Link to="/o/$organization/keys/$key" params={{ organization, key: row.id }}>
            {row.name ?? w.unknownKey}
          </Link>
        )}
      />
      <TopList
        title={w.topTargets}
        rows={targets}
        name={(row) =>
          row.name === undefined ? (
            <span className="muted">{w.removedTarget}</span>
          ) : (
            <Link to="/o/$organization/targets/$target" params={{ organization, target: row.name }}>
              {row.name}
            </Link>
          )
        }
      />
      <TopList
        title={w.topErrors}
        rows={codes}
        none={w.noErrors}
        name={(row) => (
          <Link
            className="mono"
            to="/o/$organization/calls"
            params={params}
            search={{ ...range, outcome: row.errors > 0 ? 'upstream_error' : 'refused' }}
          >
            {/^\d/.test(row.id) ? w.upstreamStatus(row.id) : row.id}
          </Link>
        )}
      />
    </div>
  )
}

function TopList({
  title,
  rows,
  name,
  none = w.noCalls,
}: {
  readonly title: string
  readonly rows: readonly Row[]
  readonly name: (row: Row) => ReactNode
  readonly none?: string
}) {
  const most = Math.max(1, ...rows.map((row) => row.calls))
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ol className={classes.top}>
          {rows.map((row) => (
            <li key={row.id}>
              <span className={classes.name}>{name(row)}</span>
              <span className={classes.number}>{count(row.calls)}</span>
              <span className={classes.bar} aria-hidden="true">
                <i style={{ flexGrow: row.calls - row.refused - row.errors }} />
                <i className={classes.errors} style={{ flexGrow: row.errors }} />
                <i className={classes.refused} style={{ flexGrow: row.refused }} />
                <i className={classes.rest} style={{ flexGrow: most - row.calls }} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  )
}
