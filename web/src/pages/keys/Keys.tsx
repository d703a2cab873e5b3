import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { keyStates } from '../../api/choices.ts'
import { keysQuery } from '../../api/keys.ts'
import { useManagedAmong } from '../../api/managed.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { FilterBar, type Filter } from '../../parts/Filters.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { keyColumns } from './key-columns.tsx'
import { labelsInAddress } from './label-text.ts'
import { LabelFilter } from './Labels.tsx'
import { whole } from '../../parts/upgrade.ts'

const here = getRouteApi('/frame/o/$organization/keys')
// Loaded on demand, because most visits only read the list.
const IssueKey = lazy(async () => ({
  default: (await whole(async () => await import('./IssueKey.tsx'))()).IssueKey,
}))
const BulkKeys = lazy(async () => ({
  default: (await whole(async () => await import('./BulkKeys.tsx'))()).BulkKeys,
}))

export function Keys() {
  const { slug, may } = useOrganization()
  const { issue, q, state, label } = here.useSearch()
  const navigate = here.useNavigate()
  const labels = labelsInAddress(label)
  const list = useInfiniteQuery(keysQuery(slug, { search: q, state, label: labels }))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const { chosen, choice, chooseAll, clear } = useChoice(rows)
  const managed = useManagedAmong(slug, 'keys', idsOf(rows))
  const manages = may('keys.manage')
  const labelled = rows.some((row) => row.labels !== undefined)
  function change(patch: Patch) {
    const changed = { label: labelsAfter(labels, patch), ...withoutLabels(patch) }
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  }
  const issueButton = may('keys.issue') ? (
    <Button look="primary" icon="plus" onClick={() => change({ issue: 'now' })}>
      {w.issue}
    </Button>
  ) : undefined
  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        {issueButton}
      </PageHead>
      <KeyFilters labels={labels} onChange={change}>
        {manages && rows.length > 0 ? <Button onClick={chooseAll}>{w.bulk.all}</Button> : undefined}
      </KeyFilters>
      <Chosen organization={slug} keys={chosen} onDone={clear} />
      <DataTable
        label={w.title}
        columns={keyColumns(slug, manages ? choice : undefined, { managed, labelled })}
        rows={rows}
        rowId={idOf}
        list={list}
        body={VirtualBody}
        onOpen={({ id: key }) =>
          void navigate({ to: '/o/$organization/keys/$key', params: { organization: slug, key } })
        }
        filtered={{
          what: w.what,
          count: [q, state, ...labels].filter(Boolean).length,
          clear: () => change({ q: undefined, state: undefined, label: undefined }),
        }}
        empty={
          <Empty title={w.emptyTitle}>
            <p>{w.emptyText}</p>
            {issueButton}
          </Empty>
        }
      />
      {issue === undefined ? undefined : (
        <Issuing organization={slug} onClose={() => change({ issue: undefined })} />
      )}
    </>
  )
}

type Patch = Readonly<Record<string, string | undefined>>

function KeyFilters({
  labels,
  onChange,
  children,
}: {
  readonly labels: readonly string[]
  readonly onChange: (patch: Patch) => void
  readonly children: ReactNode
}) {
  const { q, state } = here.useSearch()
  return (
    <FilterBar
      search={{ id: 'q', label: w.search, value: q }}
      filters={[
        { id: 'state', label: w.state, value: state, options: stateOptions },
        ...labelFilters(labels, (next) => onChange({ label: next })),
      ]}
      onChange={onChange}
    >
      {children}
    </FilterBar>
  )
}

const labelPrefix = 'label '

/** One filter chip per label; the URL keeps all labels in one parameter. */
function labelFilters(
  labels: readonly string[],
  onLabels: (text: string) => void,
): readonly Filter[] {
  const picker = (
    <LabelFilter onAdd={(label) => onLabels([...new Set([...labels, label])].join('\n'))} />
  )
  const chips = labels.map((value) => ({ id: labelPrefix + value, label: w.labels.one, value }))
  return [{ id: 'label', label: w.labels.one, value: undefined, picker }, ...chips]
}

/** Returns the URL's label parameter without the labels that a change of filters removes; undefined if none is left. */
function labelsAfter(labels: readonly string[], patch: Patch): string | undefined {
  const kept = labels.filter((label) => !Object.hasOwn(patch, labelPrefix + label))
  return kept.length === 0 ? undefined : kept.join('\n')
}

function withoutLabels(patch: Patch): Patch {
  return Object.fromEntries(Object.entries(patch).filter(([id]) => !id.startsWith(labelPrefix)))
}

const idOf = ({ id }: Key) => id
const idsOf = (keys: readonly Key[]) => keys.map(idOf)

interface ChosenProps {
  readonly organization: string
  readonly keys: readonly Key[]
  readonly onDone: () => void
}

function Chosen(props: ChosenProps) {
  if (props.keys.length === 0) return undefined
  return (
    <Suspense fallback={undefined}>
      <BulkKeys {...props} />
    </Suspense>
  )
}

const stateOptions = keyStates.map((state) => ({ value: state, label: w.states[state] }))

/** The selected keys, all of which are shown: a selected key that a filter hides is no longer selected. */
function useChoice(rows: readonly Key[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const chosen = rows.filter((row) => ids.has(row.id))
  // State that is set while a component renders makes React render it again before anything is shown.
  if (chosen.length < ids.size) setIds(new Set(idsOf(chosen)))
  return {
    chosen,
    clear: () => setIds(new Set()),
    chooseAll: () => setIds(new Set(rows.map(({ id }) => id))),
    choice: {
      ids,
      onChoose: (id: string, isChosen: boolean) => {
        const next = new Set(ids)
        if (isChosen) next.add(id)
        else next.delete(id)
        setIds(next)
      },
    },
  }
}

function Issuing({
  organization,
  onClose,
}: {
  readonly organization: string
  readonly onClose: () => void
}) {
  const client = useQueryClient()
  return (
    <Suspense fallback={undefined}>
      <IssueKey
        organization={organization}
        onClose={() => {
          onClose()
          void client.invalidateQueries({ queryKey: [organization, 'keys'] })
        }}
      />
    </Suspense>
  )
}
