import { useState } from 'react'
import { auditWords as w } from '../../../words/en/audit.ts'
import { words } from '../../../words/en.ts'
import { Select } from '../../parts/Field.tsx'
import { ranges, type RangeSearch } from '../../parts/range.ts'
import { CustomRange } from '../../parts/CustomRange.tsx'

const offered = ['24h', '7d', '30d'] as const
const custom = 'custom'

export function AuditTime({
  search,
  onRange,
}: {
  readonly search: RangeSearch
  readonly onRange: (range: RangeSearch) => void
}) {
  const [open, setOpen] = useState(false)
  function choose(value: string) {
    if (value === custom) return setOpen(true)
    const name = offered.find((one) => one === value)
    if (name === undefined) return
    onRange({ from: new Date(Date.now() - ranges[name].spanMs).toISOString(), to: undefined })
  }
  return (
    <>
      <Select
        auto
        aria-label={w.filters.time}
        value=""
        options={[
          { value: '', label: w.filters.time },
          ...offered.map((value) => ({ value, label: words.range.names[value] })),
          { value: custom, label: words.range.customTitle },
        ]}
        onValue={choose}
      />
      {open ? (
        <CustomRange search={search} onRange={onRange} onClose={() => setOpen(false)} />
      ) : undefined}
    </>
  )
}
