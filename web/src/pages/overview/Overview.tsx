import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { stations } from '../../api/calls.ts'
import { rollupQuery } from '../../api/traffic.ts'
import { words } from '../../../words/en.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { useOrganization } from '../../frame/membership.ts'
import { SumLine, type Station } from '../../parts/Line.tsx'
import { count } from '../../parts/numbers.ts'
import type { RangeSearch } from '../../parts/range.ts'
import { RangePicker } from '../../parts/RangePicker.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Card, PageHead, Pile } from '../../parts/Surface.tsx'
import { FirstStepsCard } from './FirstSteps.tsx'
import { NeedsYou } from './NeedsYou.tsx'
import { Summary } from './Summary.tsx'
import { TopCalls } from './TopCalls.tsx'

const here = getRouteApi('/frame/o/$organization/')

export function Overview() {
  const { slug, membership } = useOrganization()
  const range = here.useSearch()
  const navigate = here.useNavigate()
  return (
    <>
      <PageHead title={w.title} lead={membership.name}>
        <RangePicker search={range} onRange={(search) => void navigate({ search })} />
      </PageHead>
      <Pile>
        <FirstStepsCard organization={slug} />
        <Summary organization={slug} range={range} />
        <NeedsYou organization={slug} />
        <WhereCallsStop organization={slug} range={range} />
        <TopCalls organization={slug} range={range} />
      </Pile>
    </>
  )
}

function WhereCallsStop({
  organization,
  range,
}: {
  readonly organization: string
  readonly range: RangeSearch
}) {
  const rollup = useQuery(rollupQuery(organization, { range }))
  return (
    <Card title={w.whereCallsStop} lead={w.whereLead}>
      {rollup.data === undefined ? (
        <QueryState query={rollup} />
      ) : (
        <>
          <SumLine
            organization={organization}
            refused={rollup.data.refused}
            answered={rollup.data.answered}
            range={range}
          />
          <MostStop organization={organization} refused={rollup.data.refused} range={range} />
        </>
      )}
    </Card>
  )
}

function MostStop({
  organization,
  refused,
  range,
}: {
  readonly organization: string
  readonly range: RangeSearch
  readonly refused: Readonly<Partial<Record<Station, number>>>
}) {
  const all = stations.reduce((sum, station) => sum + (refused[station] ?? 0), 0)
  const most = [...stations].sort((one, other) => (refused[other] ?? 0) - (refused[one] ?? 0))[0]
  if (all === 0 || most === undefined) return undefined
  return (
    <p className="muted above">
      {w.mostStop(count(refused[most] ?? 0), count(all), words.stations[most])}{' '}
      <Link
        to="/o/$organization/calls"
        params={{ organization }}
        search={{ ...range, stopped_at: most }}
      >
        {w.showThese}
      </Link>
    </p>
  )
}
