import { lazy, Suspense, useState } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { cx } from './cx.ts'
import classes from './range.module.css'
import { rangeName, ranges, type RangeSearch } from './range.ts'
import { whole } from './upgrade.ts'
import { useUtc, zoneName } from './zone.ts'

// Loaded on demand, because few people choose their own range.
const CustomRange = lazy(async () => ({
  default: (await whole(async () => await import('./CustomRange.tsx'))()).CustomRange,
}))

interface RangePickerProps {
  readonly search: RangeSearch
  /** Receives the range as search parameters for the URL. */
  readonly onRange: (search: RangeSearch) => void
}

/** Selects the range that a page's figures and charts cover, and the time zone of every time on the page. */
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
        <Suspense fallback={undefined}>
          <CustomRange search={search} onRange={onRange} onClose={() => setOpen(false)} />
        </Suspense>
      ) : undefined}
    </div>
  )
}
