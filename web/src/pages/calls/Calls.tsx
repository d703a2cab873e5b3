import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useRef, useState } from 'react'
import { callsQuery, type CallFilter } from '../../api/calls.ts'
import { keyQuery } from '../../api/keys.ts'
import { paletteQuery } from '../../api/palette.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { words } from '../../../words/en.ts'
import { useOrganization } from '../../frame/membership.ts'
import { useShortcuts } from '../../frame/shortcuts.ts'
import { whole } from '../../parts/upgrade.ts'
import { Button, ButtonLink, Lamp } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { FilterBar, type Filter } from '../../parts/Filters.tsx'
import { RangePicker } from '../../parts/RangePicker.tsx'
import { rangeName } from '../../parts/range.ts'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { KeyPicker } from '../keys/KeyPicker.tsx'
import classes from './calls.module.css'
import { CallsTable } from './CallsTable.tsx'
import { CallsTop } from './CallsTop.tsx'
import { ExportCalls } from './ExportCalls.tsx'
import { useLive } from './live.ts'
import { SavedViews } from './SavedViews.tsx'

const here = getRouteApi('/frame/o/$organization/calls')
// Most visits look at the list: the drawer comes with the first call that is opened.
const loadDrawer = whole(async () => await import('./CallDrawer.tsx'))
const CallDrawer = lazy(async () => ({ default: (await loadDrawer()).CallDrawer }))
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** Find one call, and why it ended so. */
export function Calls() {
  const { slug } = useOrganization()
  const { call: open, live, ...filter } = here.useSearch()
  const router = useRouter()
  const navigate = here.useNavigate()
  const list = useInfiniteQuery(callsQuery(slug, filter))
  const liveButton = useRef<HTMLButtonElement>(null)
  const tail = useLive(slug, filter, live === 'on', list.data?.pages[0]?.items[0]?.id)
  const known = list.data?.pages.flatMap((page) => page.items) ?? []
  // The list may be read again while the tail runs: a call that both know is shown once.
  const listed = new Set(known.map((one) => one.id))
  const rows = [...tail.rows.filter((one) => !listed.has(one.id)), ...known]
  const openedHere = useRef(false)

  /** Each change is a step of the browser's history; what is typed letter by letter is not. */
  const change = useCallback(
    (patch: Readonly<Record<string, string | undefined>>, replace = 'q' in patch) => {
      void navigate({ search: (past) => ({ ...past, ...patch }), replace, resetScroll: false })
    },
    [navigate],
  )
  const toggleLive = useCallback(
    // What is live ends with now: a range that has ended gives way.
    () =>
      change(live === 'on' ? { live: undefined } : { live: 'on', from: undefined, to: undefined }),
    [change, live],
  )
  useShortcuts(useCallback((key: string) => key === 'l' && (toggleLive(), true), [toggleLive]))
  const filters = useFilters(slug, filter, change)
  const { range: _range, from: _from, to: _to, ...narrowed } = filter
  function close() {
    // What was opened by a step into the history is closed by a step back.
    if (openedHere.current) router.history.back()
    else change({ call: undefined }, true)
    openedHere.current = false
  }

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <SavedViews
          organization={slug}
          search={filter}
          onOpen={(search) => void navigate({ search })}
        />
        <ExportCalls organization={slug} filter={filter} />
        <Button ref={liveButton} aria-pressed={live === 'on'} onClick={toggleLive}>
          <Lamp on={live === 'on'} />
          {w.live}
        </Button>
      </PageHead>
      <div className={classes.ranges}>
        <RangePicker
          search={filter}
          onRange={(range) => change({ ...range, live: undefined }, false)}
        />
      </div>
      <CallsTop
        organization={slug}
        filter={filter}
        onPick={(from, to) =>
          change({ range: undefined, live: undefined, from: iso(from), to: iso(to) })
        }
      />
      <FilterBar
        search={{ id: 'q', label: w.search, value: filter.q }}
        filters={filters}
        onChange={change}
      />
      <div onFocusCapture={tail.look} onBlurCapture={tail.lookAway}>
        <CallsTable
          calls={rows}
          list={{ ...list, searchedBackTo: list.data?.pages.at(-1)?.searched_back_to }}
          chosen={open}
          fresh={(call) => tail.isFresh(call.id)}
          onOpen={(call) => {
            openedHere.current = true
            change({ call: call.id })
          }}
          filtered={{
            what: w.what,
            count: Object.values(narrowed).filter(Boolean).length,
            clear: () => void navigate({ search: { range: filter.range } }),
          }}
          empty={
            rangeName(filter) === '24h' ? (
              <NoCalls organization={slug} />
            ) : (
              <Empty title={w.noneInRange}>
                <Button onClick={() => change({ range: '30d', from: undefined, to: undefined })}>
                  {w.lookFurther}
                </Button>
              </Empty>
            )
          }
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
            calls={rows}
            onTurn={(call) => change({ call }, true)}
            onClose={close}
          />
        </Suspense>
      )}
    </>
  )
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** One key of many, by a part of its name. */
function KeyFilter({
  organization,
  onKey,
}: {
  readonly organization: string
  readonly onKey: (key: string) => void
}) {
  const [text, setText] = useState('')
  return (
    <KeyPicker
      bare
      organization={organization}
      label={w.filters.key}
      text={text}
      onText={setText}
      onPick={({ value }) => {
        setText('')
        onKey(value)
      }}
    />
  )
}

function useFilters(
  organization: string,
  filter: CallFilter,
  onChange: (patch: Readonly<Record<string, string | undefined>>) => void,
): readonly Filter[] {
  const things = useQuery(paletteQuery(organization))
  const chosen = useQuery({
    ...keyQuery(organization, filter.key ?? ''),
    enabled: filter.key !== undefined,
  })
  const keyName = filter.key === undefined ? undefined : (chosen.data?.name ?? filter.key)
  const choices = (texts: Readonly<Record<string, string>>) =>
    Object.entries(texts).map(([value, label]) => ({ value, label }))
  const { shape: _shape, ...stations } = words.stations
  return [
    {
      ...{ id: 'outcome', label: w.filters.outcome, value: filter.outcome },
      options: choices(w.outcomes),
    },
    {
      ...{ id: 'target', label: w.filters.target, value: filter.target },
      options: (things.data?.targets ?? []).map(({ slug }) => ({ value: slug, label: slug })),
    },
    {
      ...{ id: 'stopped_at', label: w.filters.stopped_at, value: filter.stopped_at },
      options: choices(stations),
    },
    {
      ...{ id: 'status', label: w.filters.status, value: filter.status },
      options: choices(w.statusClasses),
    },
    {
      ...{ id: 'method', label: w.filters.method, value: filter.method },
      options: methods.map((method) => ({ value: method, label: method })),
    },
    {
      ...{ id: 'key', label: w.filters.key, value: filter.key, shown: keyName },
      picker: <KeyFilter organization={organization} onKey={(key) => onChange({ key })} />,
    },
    { id: 'path', label: w.filters.path, value: filter.path },
    { id: 'address', label: w.filters.address, value: filter.address },
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
