import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { attentionQuery, rollupQuery } from '../../api/traffic.ts'
import { words } from '../../../words/en.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Bars } from '../../parts/Bars.tsx'
import { ButtonLink } from '../../parts/Button.tsx'
import { stations, SumLine, type Station } from '../../parts/Line.tsx'
import { count } from '../../parts/numbers.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card, Item, Items, PageHead, Pile } from '../../parts/Surface.tsx'
import { AttentionAction } from './AttentionAction.tsx'
import { FirstStepsCard } from './FirstSteps.tsx'

const dayMs = 86_400_000
const hourMs = 3_600_000

/** What needs me, and where calls stop. Each card fails alone. */
export function Overview() {
  const { slug, membership } = useOrganization()
  return (
    <>
      <PageHead title={w.title} lead={w.lead(membership.name)} />
      <Pile>
        <FirstStepsCard organization={slug} />
        <WhereCallsStop organization={slug} />
        <NeedsYou organization={slug} />
        <Traffic organization={slug} />
      </Pile>
    </>
  )
}

function WhereCallsStop({ organization }: { readonly organization: string }) {
  const rollup = useQuery(rollupQuery(organization, { spanMs: dayMs, stepMs: hourMs }))
  return (
    <Card title={w.whereCallsStop} lead={w.whereLead}>
      {rollup.data === undefined ? (
        rollup.isError ? (
          <ProblemNotice error={rollup.error} retry={() => void rollup.refetch()} />
        ) : (
          <Loading />
        )
      ) : (
        <>
          <SumLine
            organization={organization}
            refused={rollup.data.refused}
            answered={rollup.data.answered}
            from={rollup.data.points[0]?.at}
          />
          <MostStop organization={organization} refused={rollup.data.refused} />
        </>
      )}
    </Card>
  )
}

function MostStop({
  organization,
  refused,
}: {
  readonly organization: string
  readonly refused: Readonly<Partial<Record<Station, number>>>
}) {
  const all = stations.reduce((sum, station) => sum + (refused[station] ?? 0), 0)
  const most = [...stations].sort((one, other) => (refused[other] ?? 0) - (refused[one] ?? 0))[0]
  if (all === 0 || most === undefined) return undefined
  return (
    <p className="muted above">
      {w.mostStop(count(refused[most] ?? 0), count(all), words.stations[most])}{' '}
      <Link to="/o/$organization/calls" params={{ organization }} search={{ stopped_at: most }}>
        {w.showThese}
      </Link>
    </p>
  )
}

function NeedsYou({ organization }: { readonly organization: string }) {
  const attention = useQuery(attentionQuery(organization))
  return (
    <Card flush title={w.needsYou}>
      {attention.data === undefined ? (
        attention.isError ? (
          <div className="pad">
            <ProblemNotice error={attention.error} retry={() => void attention.refetch()} />
          </div>
        ) : (
          <Loading />
        )
      ) : attention.data.items.length === 0 ? (
        <p className="pad muted">{w.nothingNeeds}</p>
      ) : (
        <Items>
          {attention.data.items.map((item) => (
            <Item
              key={`${item.kind} ${item.subject_id}`}
              mark={item.severity}
              action={<AttentionAction organization={organization} item={item} />}
            >
              <strong>{item.title}</strong>
              <p className="muted">{item.text}</p>
            </Item>
          ))}
        </Items>
      )}
    </Card>
  )
}

function Traffic({ organization }: { readonly organization: string }) {
  const rollup = useQuery(rollupQuery(organization, { spanMs: dayMs, stepMs: hourMs }))
  if (rollup.data === undefined) return undefined
  return (
    <Card
      title={w.traffic}
      actions={
        <ButtonLink small to="/o/$organization/calls" params={{ organization }}>
          {w.showCalls}
        </ButtonLink>
      }
    >
      <Bars bars={rollup.data.points} title={w.traffic} stepMs={hourMs} />
    </Card>
  )
}
