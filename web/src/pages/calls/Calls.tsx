import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useRef } from 'react'
import { callsQuery, type CallFilter } from '../../api/calls.ts'
import { paletteQuery } from '../../api/palette.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { words } from '../../../words/en.ts'
import { useOrganization } from '../../frame/membership.ts'
import { useShortcuts } from '../../frame/shortcuts.ts'
import { whole } from '../../frame/upgrade.ts'
import { Button, ButtonLink, Lamp } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { FilterBar, type Filter } from '../../parts/Filters.tsx'
import { stations } from '../../parts/Line.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { exact } from '../../parts/Time.tsx'
import classes from './calls.module.css'
import { CallsTable } from './CallsTable.tsx'
import { CallsTop } from './CallsTop.tsx'
import { ExportCalls } from './ExportCalls.tsx'
import { useLive } from './live.ts'

const here = getRouteApi('/frame/o/$organization/calls')
// Most visits look at the list: the drawer comes with the first call that is opened.
const loadDrawer = whole(async () => await import('./CallDrawer.tsx'))
const CallDrawer = lazy(async () => ({ default: (await loadDrawer()).CallDrawer }))
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** Find one call, and why it ended so. */
export function Calls() {
  const { slug } = useOrganization()
  const { call: open, live, ...filter } = here.useSearch()
  const navigate = here.useNavigate()
  const list = useInfiniteQuery(callsQuery(slug, filter))
  const liveButton = useRef<HTMLButtonElement>(null)
  const tail = useLive(slug, filter, live === 'on', list.data?.pages[0]?.items[0]?.id)
  const known = list.data?.pages.flatMap((page) => page.items) ?? []
  // The list may be read again while the tail runs: a call that both know is shown once.
  const listed = new Set(known.map((one) => one.id))
  const rows = [...tail.rows.filter((one) => !listed.has(one.id)), ...known]

  const change = useCallback(
    (patch: Readonly<Record<string, string | undefined>>) => {
      void navigate({
        search: (before) => ({ ...before, ...patch, ...fromOf(patch) }),
        replace: true,
        resetScroll: false,
      })
    },
    [navigate],
  )
  const toggleLive = useCallback(
    () => change({ live: live === 'on' ? undefined : 'on' }),
    [change, live],
  )
  useShortcuts(useCallback((key: string) => key === 'l' && (toggleLive(), true), [toggleLive]))
  const filters = useFilters(slug, filter)

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <ExportCalls organization={slug} filter={filter} />
        <Button ref={liveButton} aria-pressed={live === 'on'} onClick={toggleLive}>
          <Lamp on={live === 'on'} />
          {w.live}
        </Button>
      </PageHead>
      <CallsTop organization={slug} target={filter.target} apiKey={filter.key} />
      <FilterBar
        search={{ id: 'q', label: w.search, value: filter.q }}
        filters={filters}
        onChange={change}
      />
      <div onFocusCapture={tail.look} onBlurCapture={tail.lookAway}>
        <CallsTable
          calls={rows}
          list={list}
          chosen={open}
          fresh={(call) => tail.isFresh(call.id)}
          onOpen={(call) => change({ call: call.id })}
          filtered={{
            what: w.what,
            count: Object.values(filter).filter(Boolean).length,
            clear: () => void navigate({ search: {} }),
          }}
          empty={<NoCalls organization={slug} />}
        />
      </div>
      {tail.waiting > 0 ? (
        <div className={classes.pause}>
          <Button
            look="primary"
            onClick={() => {
              tail.show()
              // This button goes away, and the focus must not be lost with it.
              liveButton.current?.focus()
            }}
          >
            {w.newCalls(tail.waiting)}
          </Button>
        </div>
      ) : undefined}
      {open === undefined ? undefined : (
        <Suspense fallback={undefined}>
          <CallDrawer
            organization={slug}
            id={open}
            known={rows.find((row) => row.id === open)}
            onClose={() => change({ call: undefined })}
          />
        </Suspense>
      )}
    </>
  )
}

/** A span of milliseconds that was chosen, as the moment it reaches back to. */
function fromOf({ from }: Readonly<Record<string, string | undefined>>) {
  if (from === undefined || !Object.hasOwn(w.spans, from)) return {}
  return { from: new Date(Date.now() - Number(from)).toISOString() }
}

function useFilters(organization: string, filter: CallFilter): readonly Filter[] {
  const things = useQuery(paletteQuery(organization))
  const keyName = things.data?.keys.find((key) => key.id === filter.key)?.name
  const time = (at: string | undefined) => (at === undefined ? {} : { shown: exact(at) })
  return [
    {
      id: 'target',
      label: w.filters.target,
      value: filter.target,
      options: (things.data?.targets ?? []).map((target) => ({
        value: target.slug,
        label: target.slug,
      })),
    },
    {
      id: 'stopped_at',
      label: w.filters.stopped_at,
      value: filter.stopped_at,
      options: stations
        .filter((station) => station !== 'shape')
        .map((station) => ({ value: station, label: words.stations[station] })),
    },
    {
      id: 'status',
      label: w.filters.status,
      value: filter.status,
      options: Object.entries(w.statusClasses).map(([value, label]) => ({ value, label })),
    },
    {
      id: 'method',
      label: w.filters.method,
      value: filter.method,
      options: methods.map((method) => ({ value: method, label: method })),
    },
    {
      id: 'key',
      label: w.filters.key,
      value: filter.key,
      options: (things.data?.keys ?? []).map((key) => ({ value: key.id, label: key.name })),
      ...(keyName === undefined ? {} : { shown: keyName }),
    },
    { id: 'path', label: w.filters.path, value: filter.path },
    { id: 'address', label: w.filters.address, value: filter.address },
    {
      id: 'from',
      label: w.filters.from,
      value: filter.from,
      options: Object.entries(w.spans).map(([value, label]) => ({ value, label })),
      ...time(filter.from),
    },
    { id: 'to', label: w.filters.to, value: filter.to, ...time(filter.to) },
  ]
}

function NoCalls({ organization }: { readonly organization: string }) {
  const things = useQuery(paletteQuery(organization))
  const target = things.data?.targets[0]?.slug
  return (
    <Empty title={w.emptyTitle}>
      <p>{w.emptyText}</p>
      {target === undefined ? undefined : (
        <Snippet
          label="curl"
          text={`curl ${window.location.origin}/api/v1/intercept/${target}/ \\\n  -H 'X-API-Key: …'`}
        />
      )}
      {target === undefined ? (
        <ButtonLink
          look="primary"
          to="/o/$organization/targets"
          params={{ organization }}
          search={{ add: 'now' }}
        >
          {w.addTarget}
        </ButtonLink>
      ) : (
        <ButtonLink
          look="primary"
          to="/o/$organization/keys"
          params={{ organization }}
          search={{ issue: 'now' }}
        >
          {w.issueKey}
        </ButtonLink>
      )}
    </Empty>
  )
}
