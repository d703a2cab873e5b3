import { Link } from '@tanstack/react-router'
import type { Managed } from '../../api/managed.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { ManagedTag } from '../../frame/Managed.tsx'
import { onNarrow, rowName, type Column } from '../../parts/DataTable.tsx'
import { Tag } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { Labels } from './Labels.tsx'
import { grantsText, KeyState } from './parts.tsx'

export interface Choice {
  readonly ids: ReadonlySet<string>
  readonly onChoose: (id: string, isChosen: boolean) => void
}

/** The columns of the list of keys: checkboxes only if keys can be selected, labels only if a key has any. */
export function keyColumns(
  organization: string,
  choice: Choice | undefined,
  {
    managed,
    labelled,
  }: { readonly managed: ReadonlyMap<string, Managed>; readonly labelled: boolean },
): readonly Column<Key>[] {
  const columns = [
    nameColumn(organization, managed),
    ...(labelled ? [labelsColumn(organization)] : []),
    // With a column of labels, the hints are also hidden from 1101 to 1300 px, because they would leave too little room
    // for the names. From 701 to 1100 px, the labels are hidden, so the hints fit.
    hintColumn(labelled ? 'tight' : 'narrow'),
    ...columnsOfKeys,
  ]
  return choice === undefined ? columns : [boxOf(choice), ...columns]
}

function boxOf({ ids, onChoose }: Choice): Column<Key> {
  return {
    id: 'box',
    head: '',
    width: '40px',
    hide: 'phone',
    cell: (key) => (
      <input
        type="checkbox"
        aria-label={w.bulk.choose(key.name)}
        checked={ids.has(key.id)}
        onChange={(event) => onChoose(key.id, event.target.checked)}
      />
    ),
  }
}

function nameColumn(organization: string, managed: ReadonlyMap<string, Managed>): Column<Key> {
  return {
    id: 'name',
    head: w.columns.name,
    brief: (key) => key.name,
    cell: (key) => (
      <>
        <Link
          to="/o/$organization/keys/$key"
          params={{ organization, key: key.id }}
          className={rowName}
          tabIndex={-1}
        >
          {key.name}
        </Link>{' '}
        <ManagedTag by={managed.get(key.id)} />
        <span className={onNarrow}>
          <span>{grantsText(key)}</span>
          {labelTexts(key).map((text) => ` · ${text}`)}
        </span>
      </>
    ),
  }
}

function labelTexts({ labels = {} }: Key): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}: ${value}`)
}

function labelsColumn(organization: string): Column<Key> {
  return {
    id: 'labels',
    head: w.labels.title,
    width: '156px',
    hide: 'medium',
    cell: ({ labels }) => <Labels inList {...{ organization, labels }} />,
  }
}

function hintColumn(hide: 'tight' | 'narrow'): Column<Key> {
  return {
    id: 'hint',
    head: w.columns.hint,
    width: '204px',
    hide,
    cell: (key) => <code>{key.hint}</code>,
  }
}

const columnsOfKeys: readonly Column<Key>[] = [
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
