import type { ReactNode } from 'react'
import type { KeyCallers } from '../../api/keys.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { DataTable, type Column, type ListState } from '../../parts/DataTable.tsx'
import { count } from '../../parts/numbers.ts'
import { Time } from '../../parts/Time.tsx'

const w = keysWords.detail
type Caller = KeyCallers['recent'][number]

export function Callers({
  label,
  callers,
  list,
  empty,
}: {
  readonly label: string
  readonly callers: readonly Caller[]
  readonly list: ListState
  readonly empty: ReactNode
}) {
  return (
    <DataTable
      bare
      label={label}
      columns={columns}
      rows={callers}
      rowId={(caller) => `${caller.address} ${caller.agent ?? ''}`}
      list={list}
      empty={empty}
    />
  )
}

const columns: readonly Column<Caller>[] = [
  {
    id: 'address',
    head: w.address,
    width: '28%',
    cell: (caller) => <code>{caller.address}</code>,
  },
  {
    id: 'agent',
    head: w.agent,
    cell: (caller) => caller.agent ?? <span className="muted">{w.noAgent}</span>,
  },
  { id: 'target', head: w.target, hide: 'medium', cell: (caller) => caller.target ?? '' },
  {
    id: 'calls',
    head: w.callsOf,
    width: '90px',
    end: true,
    hide: 'narrow',
    cell: (caller) => count(caller.calls),
  },
  {
    id: 'seen',
    head: w.lastSeen,
    width: '130px',
    cell: (caller) => <Time at={caller.last_seen_at} form="relative" />,
  },
]
