import { useState } from 'react'
import { words } from '../../words/en.ts'
import { FormDialog } from './Dialogs.tsx'
import { TextField } from './Field.tsx'
import { spanOf, type RangeSearch } from './range.ts'
import { useUtc, zoneName } from './zone.ts'

export function CustomRange({
  search,
  onRange,
  onClose,
}: {
  readonly search: RangeSearch
  readonly onRange: (search: RangeSearch) => void
  readonly onClose: () => void
}) {
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
      onClose={onClose}
      title={w.customTitle}
      lead={w.customLead(zoneName())}
      action={w.apply}
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

/** Formats a time in the displayed time zone for a date field, whose value names no time zone. */
function toField(ms: number, utc: boolean): string {
  const shift = utc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - shift).toISOString().slice(0, 16)
}

function fromField(text: string, utc: boolean): number {
  return Date.parse(utc ? `${text}Z` : text)
}
