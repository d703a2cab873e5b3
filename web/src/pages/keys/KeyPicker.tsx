import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keysFoundQuery } from '../../api/palette.ts'
import type { Option } from '../../parts/Field.tsx'
import { Picker } from '../../parts/Picker.tsx'
import { useSettled } from '../../parts/useSettled.ts'

interface KeyPickerProps {
  readonly organization: string
  readonly label: string
  readonly bare?: boolean
  readonly text: string
  /** An option shown before all keys, such as "no key". */
  readonly first?: Option
  readonly onText: (text: string) => void
  readonly onPick: (option: Option) => void
}

/** Selects a key; the server searches, because an organization may have thousands. */
export function KeyPicker({ organization, first, text, ...rest }: KeyPickerProps) {
  const settled = useSettled(text.trim())
  const [near, setNear] = useState(false)
  const found = useQuery({ ...keysFoundQuery(organization, settled), enabled: near })
  const keys = (found.data?.items ?? []).map(({ id, name, hint }) => ({
    value: id,
    label: `${name} · ${hint}`,
  }))
  return (
    <Picker
      {...rest}
      onNear={() => setNear(true)}
      text={text}
      options={first === undefined ? keys : [first, ...keys]}
      busy={found.isFetching || settled !== text.trim()}
    />
  )
}
