import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Target } from '../../api/shapes.ts'
import { useManagedAmong, type Managed } from '../../api/managed.ts'
import { addTarget, echoTarget, targetHoursQuery, targetsQuery } from '../../api/targets.ts'
import { targetsWords as w } from '../../../words/en/targets.ts'
import { ManagedTag } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, rowName, type Column } from '../../parts/DataTable.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { count } from '../../parts/numbers.ts'
import { Sparkline } from '../../parts/Sparkline.tsx'
import { Empty } from '../../parts/States.tsx'
import { Badge, PageHead } from '../../parts/Surface.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { AddTarget } from './AddTarget.tsx'

const here = getRouteApi('/frame/o/$organization/targets')

export function Targets() {
  const { slug, may } = useOrganization()
  const { q, add } = here.useSearch()
  const navigate = here.useNavigate()
  const list = useQuery(targetsQuery(slug))
  const rows = (list.data?.items ?? []).filter(
    (target) =>
      q === undefined ||
      `${target.slug} ${target.name} ${target.upstream}`.toLowerCase().includes(q.toLowerCase()),
  )
  const columns = useColumns(slug, rows)
  const change = (patch: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...patch }), replace: true })
  const open = (target: string) =>
    void navigate({
      to: '/o/$organization/targets/$target',
      params: { organization: slug, target },
    })
  const button = may('targets.manage') ? (
    <Button look="primary" icon="plus" onClick={() => change({ add: 'now' })}>
      {w.add}
    </Button>
  ) : undefined

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        {button}
      </PageHead>
      <FilterBar search={{ id: 'q', label: w.search, value: q }} filters={[]} onChange={change} />
      <DataTable
        label={w.title}
        columns={columns}
        rows={rows}
        rowId={(target) => target.id}
        list={list}
        body={VirtualBody}
        onOpen={(target) => open(target.slug)}
        filtered={{
          what: w.what,
          count: q === undefined ? 0 : 1,
          clear: () => change({ q: undefined }),
        }}
        empty={<NoTargets button={button} onAdded={open} />}
      />
      {add === undefined ? undefined : (
        <AddTarget
          organization={slug}
          onClose={() => change({ add: undefined })}
          onAdded={(target) => {
            say(w.added(target))
            open(target)
          }}
        />
      )}
    </>
  )
}

function NoTargets({
  button,
  onAdded,
}: {
  readonly button: ReactNode
  readonly onAdded: (slug: string) => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const echo = useMutation({
    mutationFn: () => addTarget(slug, echoTarget),
    onError: sayRefused,
    onSuccess: (target) => {
      void client.invalidateQueries({ queryKey: [slug] })
      say(w.added(target.slug))
      onAdded(target.slug)
    },
  })
  return (
    <Empty title={w.emptyTitle}>
      <p>{w.emptyText}</p>
      {button === undefined ? undefined : (
        <>
          <p className="muted small">{w.echoHint}</p>
          <div className="row">
            {button}
            <Button busy={echo.isPending} onClick={() => echo.mutate()}>
              {w.addEcho}
            </Button>
          </div>
        </>
      )}
    </Empty>
  )
}

function useColumns(organization: string, rows: readonly Target[]): readonly Column<Target>[] {
  const hours = useQuery(targetHoursQuery(organization)).data
  const managed = useManagedAmong(
    organization,
    'targets',
    rows.map(({ id }) => id),
  )
  return [nameColumn(organization, managed), ...figureColumns(hours)]
}

type Hours = ReadonlyMap<
  string,
  { readonly calls: readonly number[]; readonly failed: readonly number[] }
>

function nameColumn(organization: string, managed: ReadonlyMap<string, Managed>): Column<Target> {
  return {
    id: 'slug',
    head: w.columns.slug,
    wraps: true,
    width: '30%',
    brief: (target) => target.slug,
    cell: (target) => (
      <>
        <Link
          to="/o/$organization/targets/$target"
          params={{ organization, target: target.slug }}
          className={rowName}
          tabIndex={-1}
        >
          {target.slug}
        </Link>{' '}
        <ManagedTag by={managed.get(target.id)} />
      </>
    ),
  }
}

function figureColumns(hours: Hours | undefined): readonly Column<Target>[] {
  return [
    {
      id: 'upstream',
      head: w.columns.upstream,
      hide: 'narrow',
      cell: (target) => <span className="mono muted">{target.upstream}</span>,
    },
    {
      id: 'hours',
      head: w.lastDay,
      width: '128px',
      hide: 'medium',
      cell: (target) => {
        const of = hours?.get(target.id)
        return of === undefined ? undefined : <Sparkline calls={of.calls} failed={of.failed} />
      },
    },
    {
      id: 'calls',
      head: w.columns.calls,
      width: '110px',
      end: true,
      hide: 'phone',
      cell: (target) => count(target.calls24h),
    },
    {
      id: 'refused',
      head: w.columns.refused,
      width: '100px',
      end: true,
      hide: 'medium',
      cell: (target) => count(target.refused24h),
    },
    {
      id: 'state',
      head: w.columns.state,
      width: '150px',
      cell: (target) => <TargetState target={target} />,
    },
  ]
}

export function TargetState({ target }: { readonly target: Target }) {
  if (!target.enabled) return <Badge tone="caution">{w.disabled}</Badge>
  const tone = ({ healthy: 'pass', unhealthy: 'refuse', unknown: 'plain' } as const)[target.health]
  return <Badge tone={tone}>{w.health[target.health]}</Badge>
}
