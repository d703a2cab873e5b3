import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { keysQuery } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, rowName, type Column } from '../../parts/DataTable.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead, Tag } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { grantsText, KeyState } from './parts.tsx'
import { whole } from '../../frame/upgrade.ts'

const here = getRouteApi('/frame/o/$organization/keys')
// Most visits only look: the dialog and its parts come when they are asked for.
const IssueKey = lazy(async () => ({
  default: (await whole(async () => await import('./IssueKey.tsx'))()).IssueKey,
}))
const states = ['active', 'expiring', 'unused', 'revoked', 'expired'] as const

/** All keys: who may call what. */
export function Keys() {
  const { slug, may } = useOrganization()
  const { issue, q, state } = here.useSearch()
  const navigate = here.useNavigate()
  const client = useQueryClient()
  const list = useInfiniteQuery(
    keysQuery(slug, {
      ...(q === undefined ? {} : { search: q }),
      ...(state === undefined ? {} : { state }),
    }),
  )
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []

  function change(patch: Readonly<Record<string, string | undefined>>) {
    void navigate({ search: (before) => ({ ...before, ...patch }), replace: true })
  }
  function open(key: Key) {
    void navigate({ to: '/o/$organization/keys/$key', params: { organization: slug, key: key.id } })
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
      <FilterBar
        search={{ id: 'q', label: w.search, value: q }}
        filters={[
          {
            id: 'state',
            label: w.state,
            value: state,
            options: states.map((state) => ({ value: state, label: w.states[state] })),
          },
        ]}
        onChange={change}
      />
      <DataTable
        label={w.title}
        columns={columns(slug)}
        rows={rows}
        rowId={(key) => key.id}
        list={list}
        body={VirtualBody}
        onOpen={open}
        filtered={{
          what: w.what,
          count: [q, state].filter(Boolean).length,
          clear: () => change({ q: undefined, state: undefined }),
        }}
        empty={
          <Empty title={w.emptyTitle}>
            <p>{w.emptyText}</p>
            {issueButton}
          </Empty>
        }
      />
      {issue === undefined ? undefined : (
        <Suspense fallback={undefined}>
          <IssueKey
            organization={slug}
            onClose={() => {
              change({ issue: undefined })
              void client.invalidateQueries({ queryKey: [slug, 'keys'] })
            }}
          />
        </Suspense>
      )}
    </>
  )
}

function columns(organization: string): readonly Column<Key>[] {
  return [
    {
      id: 'name',
      head: w.columns.name,
      cell: (key) => (
        <Link
          to="/o/$organization/keys/$key"
          params={{ organization, key: key.id }}
          className={rowName}
          tabIndex={-1}
        >
          {key.name}
        </Link>
      ),
    },
    {
      id: 'hint',
      head: w.columns.hint,
      width: '212px',
      hide: 'narrow',
      cell: (key) => <code>{key.hint}</code>,
    },
    {
      id: 'grants',
      head: w.columns.grants,
      hide: 'medium',
      cell: (key) => (
        <span className={key.grants === undefined ? 'muted' : undefined}>{grantsText(key)}</span>
      ),
    },
    {
      id: 'used',
      head: w.columns.used,
      width: '128px',
      hide: 'narrow',
      cell: (key) => <Time at={key.last_used_at} form="relative" />,
    },
    {
      id: 'ends',
      head: w.columns.ends,
      width: '112px',
      hide: 'narrow',
      cell: (key) =>
        key.expires_at === undefined ? (
          <span className="muted">{w.noEnd}</span>
        ) : (
          <Time at={key.expires_at} form="day" />
        ),
    },
    {
      id: 'state',
      head: w.columns.state,
      width: '168px',
      cell: (key) => (
        <span className="row">
          <KeyState state={key.state} />
          {key.personal_user_id === undefined ? undefined : <Tag>{w.personal}</Tag>}
        </span>
      ),
    },
  ]
}
