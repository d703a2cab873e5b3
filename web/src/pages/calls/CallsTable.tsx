import type { ReactNode } from 'react'
import type { Call } from '../../api/shapes.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { DataTable, type Column, type ListState } from '../../parts/DataTable.tsx'
import { MiniLine } from '../../parts/Line.tsx'
import { duration } from '../../parts/numbers.ts'
import { inRow, Time } from '../../parts/Time.tsx'
import { zoneShort } from '../../parts/zone.ts'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { outcomeOf, statusClass } from './status.ts'

interface CallsTableProps {
  readonly calls: readonly Call[]
  readonly list: ListState
  readonly empty: ReactNode
  /** A column to leave out, because it would be the same in every row. */
  readonly without?: 'key' | 'target'
  readonly bare?: boolean
  readonly onOpen?: (call: Call) => void
  readonly chosen?: string | undefined
  readonly filtered?: { readonly what: string; readonly count: number; readonly clear: () => void }
  readonly fresh?: (call: Call) => boolean
}

export function CallsTable({ calls, without, ...rest }: CallsTableProps) {
  return (
    <DataTable<Call>
      label={w.title}
      columns={columns.filter((column) => column.id !== without)}
      rows={calls}
      rowId={(call) => call.id}
      body={VirtualBody}
      {...rest}
    />
  )
}

const columns: readonly Column<Call>[] = [
  {
    id: 'time',
    get head() {
      return `${w.columns.time} (${zoneShort()})`
    },
    // Wide enough for a row from another day, which shows its date; narrower in a narrow window.
    width: 'clamp(132px, 12vw, 156px)',
    brief: (call) => inRow(call.at),
    cell: (call) => (
      <span className="mono">
        <Time at={call.at} form="row" />
      </span>
    ),
  },
  {
    id: 'status',
    head: w.columns.status,
    width: '68px',
    cell: (call) => <strong className={`mono ${statusClass(call)}`}>{call.status}</strong>,
  },
  {
    id: 'stopped',
    head: w.columns.stopped,
    width: '208px',
    hide: 'narrow',
    cell: (call) => (
      <MiniLine stoppedAt={call.stopped_at} failed={outcomeOf(call) === 'upstream_error'} />
    ),
  },
  {
    id: 'call',
    head: w.columns.call,
    cell: (call) => (
      <span className="mono" title={call.path}>
        <span className="muted">{call.method}</span> {call.path}
      </span>
    ),
  },
  {
    id: 'target',
    head: w.columns.target,
    width: '130px',
    hide: 'medium',
    cell: (call) => call.target ?? '',
  },
  {
    id: 'key',
    head: w.columns.key,
    width: '150px',
    hide: 'medium',
    cell: (call) => call.key_name ?? <span className="muted">{w.unknownKey}</span>,
  },
  {
    id: 'took',
    head: w.columns.took,
    width: '84px',
    end: true,
    hide: 'phone',
    cell: (call) => <span className="mono">{duration(call.duration_ms)}</span>,
  },
]
