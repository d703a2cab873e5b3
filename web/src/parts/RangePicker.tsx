import { useState } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'
import { FormDialog } from './Dialogs.tsx'
import { TextField } from './Field.tsx'
import classes from './range.module.css'
import { rangeName, ranges, spanOf, type RangeSearch } from './range.ts'
import { useUtc, zoneName } from './zone.ts'

interface RangePickerProps {
  readonly search: RangeSearch
  /** What the address keeps from now on. */
  readonly onRange: (search: RangeSearch) => void
}

/** One range for figures, charts and list alike; the zone beside it is that of every time on the page. */
export function RangePicker({ search, onRange }: RangePickerProps) {
  const [utc, setUtc] = useUtc()
  const [open, setOpen] = useState(false)
  const chosen = rangeName(search)
  const w = words.range
  return (
    <div className={classes.picker}>
      <div className={classes.names} role="group" aria-label={w.label}>
        {Object.keys(ranges).map((name) => (
          <button
            key={name}
            type="button"
            className={cx(classes.name)}
            aria-pressed={name === chosen}
            title={w.names[name as keyof typeof ranges]}
            onClick={() => onRange({ range: name, from: undefined, to: undefined })}
          >
            {w.short[name as keyof typeof ranges]}
          </button>
        ))}
        <button
          type="button"
          className={cx(classes.name)}
          aria-pressed={chosen === undefined}
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
        >
          {w.custom}
        </button>
      </div>
      <Button
        small
        look="quiet"
        aria-pressed={utc}
        title={utc ? w.toLocal : w.toUtc}
        onClick={() => setUtc(!utc)}
      >
        {zoneName()}
      </Button>
      {open ? (
        <CustomRange search={search} onRange={onRange} onClose={() => setOpen(false)} />
      ) : undefined}
    </div>
  )
}

/** Two moments, asked for in a dialog. */
export function CustomRange({
  search,
  onRange,
  onClose,
}: RangePickerProps & { readonly onClose: () => void }) {
  const [utc] = useUtc()
  const span = spanOf(search)
  const [from, setFrom] = useState(() => toField(span.from, utc))
  const [to, setTo] = useState(() => toField(span.to, utc))
  const start = fromField(from, utc)
  const end = fromField(to, utc)
  const wrong = Number.isNaN(start) || Number.isNaN(end) || end <= start
  const w = words.range
  return (
    <FormDialog
      open
      onClose={onClose}
      title={w.customTitle}
      lead={w.customLead(zoneName())}
      action={w.apply}
      busy={false}
      disabled={wrong}
      onSubmit={() => {
        onClose()
        onRange({
          range: undefined,
          from: new Date(start).toISOString(),
          to: new Date(end).toISOString(),
        })
      }}
    >
      <TextField label={w.from} type="datetime-local" value={from} onValue={setFrom} />
      <TextField
        label={w.to}
        type="datetime-local"
        value={to}
        onValue={setTo}
        error={wrong ? w.wrong : undefined}
      />
    </FormDialog>
  )
}

/** A moment as a field for dates takes it: without a zone. */
function toField(ms: number, utc: boolean): string {
  const shift = utc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - shift).toISOString().slice(0, 16)
}

function fromField(text: string, utc: boolean): number {
  return Date.parse(utc ? `${text}Z` : text)
}
