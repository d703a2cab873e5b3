import {
  memo,
  useRef,
  type ComponentType,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
} from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'
import { Time } from './Time.tsx'
import { Loading, NoneMatch, ProblemNotice } from './States.tsx'
import classes from './table.module.css'

export interface Column<Row> {
  readonly id: string
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  /** Returns the text that stands for the row during fast scrolling, such as its name; at most one column has this. */
  readonly brief?: (row: Row) => string
  /** A CSS width; columns without one share the remaining width. */
  readonly width?: string
  readonly end?: boolean
  /**
   * The widths of the window at which the column is hidden: `medium` up to 1100 px, `narrow` up to 700 px, `phone` up
   * to 480 px, `tight` up to 700 px and from 1101 to 1300 px.
   */
  readonly hide?: 'tight' | 'medium' | 'narrow' | 'phone'
  /** Whether the cell's text wraps on phones; not allowed in lists with rows of fixed height. */
  readonly wraps?: boolean
  /** Whether the server can sort by this column, under its id. */
  readonly sorts?: boolean
}

export interface BodyProps<Row> {
  readonly rows: readonly Row[]
  readonly columns: number
  /** Renders a row; if `isBrief`, only its `brief` text, because the row scrolls past too fast to be read. */
  readonly renderRow: (row: Row, index: number, isBrief?: boolean) => ReactNode
}

/** The part of a TanStack Query list result that a table needs; passed as a whole, so that no state is forgotten. */
export interface ListState {
  readonly isPending: boolean
  readonly isError: boolean
  readonly error: unknown
  readonly refetch: () => unknown
  readonly hasNextPage?: boolean
  readonly isFetchingNextPage?: boolean
  readonly fetchNextPage?: () => unknown
  /** How far back the search got, if it stopped and continues only on request. */
  readonly searchedBackTo?: string | undefined
}

interface DataTableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  readonly list: ListState
  readonly empty: ReactNode
  readonly filtered?: { readonly what: string; readonly count: number; readonly clear: () => void }
  readonly onOpen?: (row: Row) => void
  readonly chosen?: string | undefined
  readonly fresh?: (row: Row) => boolean
  readonly sort?: { readonly by: string; readonly onSort: (by: string) => void }
  readonly body?: ComponentType<BodyProps<Row>>
  readonly total?: number | undefined
  readonly bare?: boolean
}

/** Rows take the focus (arrows, j, k), and Enter opens one. */
export function DataTable<Row>(table: DataTableProps<Row>) {
  const { rows, list } = table
  const wrap = cx(classes.wrap, table.bare === true && classes.bare)
  if (list.isPending)
    return (
      <div className={wrap}>
        <Loading />
      </div>
    )
  const failed = list.isError ? (
    <ProblemNotice
      error={list.error}
      title={words.notRead(table.label)}
      retry={() => void list.refetch()}
    />
  ) : undefined
  if (rows.length === 0 && failed !== undefined) return failed
  if (rows.length === 0)
    return (
      <div className={wrap}>
        <NoRows table={table} />
      </div>
    )
  return (
    <div className="stack-tight">
      {failed}
      <div className={cx(wrap, list.isError && classes.old)}>
        <Grid {...table} />
        <Foot list={list} shown={rows.length} />
      </div>
    </div>
  )
}

function NoRows<Row>({ table }: { readonly table: DataTableProps<Row> }) {
  const { filtered, empty, list } = table
  if (list.hasNextPage === true) return <Foot list={list} shown={0} />
  if (filtered === undefined || filtered.count === 0) return empty
  return <NoneMatch what={filtered.what} filters={filtered.count} clear={filtered.clear} />
}

function Grid<Row>(table: DataTableProps<Row>) {
  const { rows, columns } = table
  const element = useRef<HTMLTableElement>(null)
  const Body = table.body ?? PlainBody<Row>
  return (
    <table
      ref={element}
      className={classes.table}
      role="grid"
      aria-label={table.label}
      aria-rowcount={table.total === undefined ? -1 : table.total + 1}
      onKeyDown={(event) => moveFocus(event, element.current)}
    >
      <colgroup>
        {columns.map((column) => (
          <col
            key={column.id}
            className={cellClass(column)}
            style={column.width === undefined ? {} : { width: column.width }}
          />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map((column) => (
            <Head key={column.id} column={column} sort={table.sort} />
          ))}
        </tr>
      </thead>
      <Body
        rows={rows}
        columns={columns.length}
        renderRow={(row, index, isBrief = false) => (
          <TableRow
            key={table.rowId(row)}
            row={row}
            index={index}
            table={table}
            isBrief={isBrief}
          />
        )}
      />
    </table>
  )
}

/** A row that is not rendered again on every scroll step. */
const TableRow = memo(DrawnRow) as typeof DrawnRow

function DrawnRow<Row>({
  row,
  index,
  table,
  isBrief,
}: {
  readonly row: Row
  readonly index: number
  readonly table: DataTableProps<Row>
  readonly isBrief: boolean
}) {
  const id = table.rowId(row)
  return (
    <tr
      tabIndex={index === 0 || id === table.chosen ? 0 : -1}
      aria-rowindex={index + 2}
      data-row={id}
      className={cx(
        table.onOpen !== undefined && classes.opens,
        id === table.chosen && classes.chosen,
        table.fresh?.(row) === true && classes.fresh,
        isBrief && classes.brief,
      )}
      onClick={(event) => (fromControl(event) ? undefined : table.onOpen?.(row))}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) table.onOpen?.(row)
      }}
    >
      {(isBrief ? columnsToBrief(table.columns) : table.columns).map((column) => (
        <td key={column.id} className={cellClass(column)}>
          {isBrief ? column.brief?.(row) : column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** The columns up to the one with `brief`; a brief row has no further cells, which would take time to render. */
function columnsToBrief<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return columns.slice(0, columns.findIndex(({ brief }) => brief !== undefined) + 1)
}

function Head<Row>({
  column,
  sort,
}: {
  readonly column: Column<Row>
  readonly sort: DataTableProps<Row>['sort']
}) {
  const direction =
    sort?.by === column.id ? 'ascending' : sort?.by === `-${column.id}` ? 'descending' : undefined
  if (column.sorts !== true || sort === undefined) {
    return (
      <th scope="col" className={cellClass(column)}>
        {column.head === '' ? (
          <span className="visually-hidden">{words.actions}</span>
        ) : (
          column.head
        )}
      </th>
    )
  }
  return (
    <th
      scope="col"
      className={cellClass(column)}
      {...(direction === undefined ? {} : { 'aria-sort': direction })}
    >
      <button
        type="button"
        onClick={() => sort.onSort(direction === 'descending' ? column.id : `-${column.id}`)}
      >
        {column.head}
        <span aria-hidden="true">
          {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
        </span>
      </button>
    </th>
  )
}

function Foot({ list, shown }: { readonly list: ListState; readonly shown: number }) {
  if (list.hasNextPage !== true) return undefined
  return (
    <div className={classes.more}>
      <span>
        {words.shown(shown)}
        {list.searchedBackTo === undefined ? undefined : (
          <>
            {' · '}
            {words.searchedBackTo} <Time at={list.searchedBackTo} form="row" />
          </>
        )}
      </span>
      <Button
        small
        busy={list.isFetchingNextPage === true}
        onClick={() => void list.fetchNextPage?.()}
      >
        {list.searchedBackTo === undefined ? words.showMore : words.searchOn}
      </Button>
    </div>
  )
}

function PlainBody<Row>({ rows, renderRow }: BodyProps<Row>) {
  return <tbody>{rows.map((row, index) => renderRow(row, index))}</tbody>
}

function cellClass<Row>(column: Column<Row>): string {
  return cx(
    column.end === true && classes.end,
    column.hide === 'tight' && classes.hideTight,
    column.hide === 'medium' && classes.hideMedium,
    column.hide === 'narrow' && classes.hideNarrow,
    column.hide === 'phone' && classes.hidePhone,
    column.wraps === true && classes.wraps,
  )
}

/** The class of the link that names a row. */
export const rowName = classes.name

/**
 * The class of a second line in a cell: shown up to 700 px, where the column that normally shows this text is hidden.
 */
export const onNarrow = classes.onNarrow

/** The class of a second line in a cell: shown on phones, where the column that normally shows this text is hidden. */
export const onPhone = classes.onPhone

function fromControl(event: MouseEvent): boolean {
  return (
    event.target instanceof Element &&
    event.target.closest('a, button, input, select, label, time') !== null
  )
}

function moveFocus(event: KeyboardEvent, table: HTMLTableElement | null): void {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key]
  const here = event.target instanceof HTMLElement ? event.target : null
  if (table === null || here === null || event.ctrlKey || event.metaKey || event.altKey) return
  if (step === undefined || here.tagName !== 'TR') return
  const rows = [...table.querySelectorAll<HTMLElement>('tr[data-row]')]
  const next = rows[rows.indexOf(here) + step]
  if (next === undefined) return
  event.preventDefault()
  here.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}
