import { Fragment, useEffect, useRef, useState, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './table.module.css'
import controls from './controls.module.css'
import { Select, type Option } from './Field.tsx'
import { Icon } from './Icon.tsx'
import { cx } from './cx.ts'

export interface Filter {
  readonly id: string
  readonly label: string
  readonly value: string | undefined
  /** The choices; a filter without choices or a picker appears only as a chip, while it has a value. */
  readonly options?: readonly Option[]
  /** A custom control, for filters with too many choices for a list. */
  readonly picker?: ReactNode
  /** The text that the chip shows for the value. */
  readonly shown?: string | undefined
}

interface FilterBarProps {
  readonly search?: {
    readonly id: string
    readonly label: string
    readonly value: string | undefined
  }
  readonly filters: readonly Filter[]
  /** Receives only the filters that change; undefined removes a filter. All filters belong in the URL. */
  readonly onChange: (patch: Readonly<Record<string, string | undefined>>) => void
  readonly children?: ReactNode
}

export function FilterBar({ search, filters, onChange, children }: FilterBarProps) {
  const on = filters.filter((filter) => filter.value !== undefined)
  const everything = Object.fromEntries([
    ...filters.map((filter) => [filter.id, undefined]),
    ...(search === undefined ? [] : [[search.id, undefined]]),
  ]) as Record<string, undefined>
  const searching = search?.value !== undefined
  return (
    <div className={classes.filters} role="search">
      <div className={classes.filterRow}>
        {search === undefined ? undefined : (
          <SearchBox key={search.value ?? ''} search={search} onChange={onChange} />
        )}
        {filters.map((filter) =>
          filter.picker !== undefined ? (
            <Fragment key={filter.id}>{filter.picker}</Fragment>
          ) : filter.options === undefined ? undefined : (
            <Select
              key={filter.id}
              auto
              aria-label={filter.label}
              value={filter.value ?? ''}
              options={[{ value: '', label: filter.label }, ...filter.options]}
              onValue={(value) => onChange({ [filter.id]: value === '' ? undefined : value })}
            />
          ),
        )}
        {children}
      </div>
      {on.length === 0 && !searching ? undefined : (
        <div className={classes.chips}>
          {searching ? (
            <Chip
              text={`“${search.value ?? ''}”`}
              clear={() => onChange({ [search.id]: undefined })}
            />
          ) : undefined}
          {on.map((filter) => (
            <Chip
              key={filter.id}
              text={`${filter.label}: ${shownValue(filter)}`}
              clear={() => onChange({ [filter.id]: undefined })}
            />
          ))}
          <Button small look="quiet" onClick={() => onChange(everything)}>
            {words.clearFilters}
          </Button>
        </div>
      )}
    </div>
  )
}

function shownValue(filter: Filter): string {
  return (
    filter.shown ??
    filter.options?.find((option) => option.value === filter.value)?.label ??
    filter.value ??
    ''
  )
}

function Chip({ text, clear }: { readonly text: string; readonly clear: () => void }) {
  return (
    <span className={classes.chip}>
      {text}
      <button type="button" onClick={clear} aria-label={words.removeFilter(text)}>
        <Icon name="close" />
      </button>
    </span>
  )
}

function SearchBox({
  search,
  onChange,
}: {
  readonly search: NonNullable<FilterBarProps['search']>
  readonly onChange: FilterBarProps['onChange']
}) {
  const [text, setText] = useState(search.value ?? '')
  const box = useRef<HTMLInputElement>(null)
  const touched = useRef(false)
  useEffect(() => {
    if (!touched.current || text === (search.value ?? '')) return undefined
    const timer = window.setTimeout(
      () => onChange({ [search.id]: text === '' ? undefined : text }),
      250,
    )
    return () => window.clearTimeout(timer)
  }, [text, search, onChange])
  useEffect(() => {
    // The field is mounted again when a new search takes effect, so it gets the focus back, with the cursor at the end.
    const node = box.current
    if (node !== null && document.activeElement === document.body && node.value !== '') {
      node.focus()
      node.setSelectionRange(node.value.length, node.value.length)
    }
  }, [])
  return (
    <div className={classes.search}>
      <Icon name="search" />
      <input
        ref={box}
        type="search"
        data-filter-search
        className={cx(controls.input)}
        aria-label={search.label}
        placeholder={search.label}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          touched.current = true
          setText(event.target.value)
        }}
      />
    </div>
  )
}
