import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useRef, useState, type Ref, type RefObject } from 'react'
import { callsQuery, type CallFilter } from '../../api/calls.ts'
import { methods } from '../../api/choices.ts'
import { keyQuery } from '../../api/keys.ts'
import { paletteQuery } from '../../api/palette.ts'
import type { Call } from '../../api/shapes.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { words } from '../../../words/en.ts'
import { useOrganization } from '../../frame/membership.ts'
import { useShortcuts } from '../../frame/shortcuts.ts'
import { useQuiet } from '../../parts/useQuiet.ts'
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
// Most visits only look at the list, so the drawer loads with the first opened call.
const loadDrawer = whole(async () => await import('./CallDrawer.tsx'))
const CallDrawer = lazy(async () => ({ default: (await loadDrawer()).CallDrawer }))

type Patch = Readonly<Record<string, string | undefined>>

export function Calls() {
  const { slug } = useOrganization()
  const { call: open, live, ...filter } = here.useSearch()
  const navigate = here.useNavigate()
  const list = useInfiniteQuery(callsQuery(slug, filter))
  const newestKnown = list.data?.pages[0]?.items[0]?.id
  const tail = useLive({ organization: slug, filter, on: live === 'on', newestKnown })
  const rows = withTail(tail.rows, list.data)
  const change = useChange()
  const drawer = useDrawer(change)
  const liveButton = useRef<HTMLButtonElement>(null)
  const filters = useFilters(slug, filter, change)
  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <SavedViews
          organization={slug}
          search={filter}
          onOpen={(search) => void navigate({ search })}
        />
        <ExportCalls organization={slug} filter={filter} />
        <LiveButton ref={liveButton} isOn={live === 'on'} onChange={change} />
      </PageHead>
      <Traffic organization={slug} filter={filter} onChange={change} />
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
          onOpen={(call) => drawer.open(call.id)}
          filtered={{
            what: w.what,
            count: narrowing(filter),
            clear: () => void navigate({ search: { range: filter.range } }),
          }}
          empty={<NoneHere organization={slug} filter={filter} onChange={change} />}
        />
      </div>
      <Waiting calls={tail.waiting} onShow={tail.show} focus={liveButton} />
      <OpenCall
        organization={slug}
        id={open}
        calls={rows}
        onChange={change}
        onClose={drawer.close}
      />
    </>
  )
}

function OpenCall({
  organization,
  id,
  calls,
  onChange,
  onClose,
}: {
  readonly organization: string
  readonly id: string | undefined
  readonly calls: readonly Call[]
  readonly onChange: Change
  readonly onClose: () => void
}) {
  if (id === undefined) return undefined
  return (
    <Suspense fallback={undefined}>
      <CallDrawer
        organization={organization}
        id={id}
        calls={calls}
        onTurn={(call) => onChange({ call }, true)}
        onClose={onClose}
      />
    </Suspense>
  )
}

function withTail(
  tail: readonly Call[],
  list: { readonly pages: readonly { readonly items: readonly Call[] }[] } | undefined,
): readonly Call[] {
  const known = list?.pages.flatMap((page) => page.items) ?? []
  const listed = new Set(known.map((one) => one.id))
  return [...tail.filter((one) => !listed.has(one.id)), ...known]
}

/** How many filters are active, apart from the range. */
function narrowing({ range: _range, from: _from, to: _to, ...narrowed }: CallFilter): number {
  return Object.values(narrowed).filter(Boolean).length
}

/** By default, each change becomes a step in the browser's history, except a change of the search text (`q`). */
function useChange() {
  const navigate = here.useNavigate()
  return useCallback(
    (patch: Patch, replace = 'q' in patch) => {
      void navigate({ search: (past) => ({ ...past, ...patch }), replace, resetScroll: false })
    },
    [navigate],
  )
}
type Change = ReturnType<typeof useChange>

/** Opens and closes the drawer; if opening it added a history step, closing it goes back. */
function useDrawer(change: Change) {
  const router = useRouter()
  const openedHere = useRef(false)
  return {
    open: (call: string) => {
      openedHere.current = true
      change({ call })
    },
    close: () => {
      if (openedHere.current) router.history.back()
      else change({ call: undefined }, true)
      openedHere.current = false
    },
  }
}

function LiveButton({
  ref,
  isOn,
  onChange,
}: {
  readonly ref: Ref<HTMLButtonElement>
  readonly isOn: boolean
  readonly onChange: Change
}) {
  const toggle = useCallback(
    // A live list always ends at the present, so turning it on removes explicit times.
    () => onChange(isOn ? { live: undefined } : { live: 'on', from: undefined, to: undefined }),
    [onChange, isOn],
  )
  useShortcuts(useCallback((key: string) => key === 'l' && (toggle(), true), [toggle]))
  return (
    <Button ref={ref} aria-pressed={isOn} onClick={toggle}>
      <Lamp on={isOn} />
      {w.live}
    </Button>
  )
}

interface FilterProps {
  readonly organization: string
  readonly filter: CallFilter
  readonly onChange: Change
}

function Traffic({ organization, filter, onChange }: FilterProps) {
  return (
    <>
      <div className={classes.ranges}>
        <RangePicker
          search={filter}
          onRange={(range) => onChange({ ...range, live: undefined }, false)}
        />
      </div>
      <CallsTop
        organization={organization}
        filter={filter}
        onPick={(from, to) =>
          onChange({ range: undefined, live: undefined, from: iso(from), to: iso(to) })
        }
      />
    </>
  )
}

function NoneHere({ organization, filter, onChange }: FilterProps) {
  if (rangeName(filter) === '24h') return <NoCalls organization={organization} />
  return (
    <Empty title={w.noneInRange}>
      <Button onClick={() => onChange({ range: '30d', from: undefined, to: undefined })}>
        {w.lookFurther}
      </Button>
    </Empty>
  )
}

/** Offers to show the calls that were held back while a person was looking at older ones. */
function Waiting({
  calls,
  onShow,
  focus,
}: {
  readonly calls: number
  readonly onShow: () => void
  readonly focus: RefObject<HTMLButtonElement | null>
}) {
  if (calls === 0) return undefined
  function show() {
    onShow()
    // This button is about to disappear, so the focus moves elsewhere first.
    focus.current?.focus()
  }
  return (
    <div className={classes.pause}>
      <Button look="primary" onClick={show}>
        {w.newCalls(calls)}
      </Button>
    </div>
  )
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

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
  const isQuiet = useQuiet()
  // Requested after the calls, because with hundreds of targets this response is long.
  const things = useQuery({ ...paletteQuery(organization), enabled: isQuiet })
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
