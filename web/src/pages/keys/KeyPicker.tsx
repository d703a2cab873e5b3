import { useQuery } from '@tanstack/react-query'
import { keysFoundQuery } from '../../api/palette.ts'
import type { Option } from '../../parts/Field.tsx'
import { Picker } from '../../parts/Picker.tsx'
import { useSettled } from '../../parts/useSettled.ts'

interface KeyPickerProps {
  readonly organization: string
  readonly label: string
  readonly bare?: boolean
  readonly text: string
  /** What is offered before any key, such as no key at all. */
  readonly first?: Option
  readonly onText: (text: string) => void
  readonly onPick: (option: Option) => void
}

/** Finds one key of an organization that may have thousands: the server searches. */
export function KeyPicker({ organization, first, text, ...rest }: KeyPickerProps) {
  const settled = useSettled(text.trim())
  const found = useQuery(keysFoundQuery(organization, settled))
  const keys = (found.data?.items ?? []).map(({ id, name, hint }) => ({
    value: id,
    label: `${name} · ${hint}`,
  }))
  return (
    <Picker
      {...rest}
      text={text}
      options={first === undefined ? keys : [first, ...keys]}
      busy={found.isFetching || settled !== text.trim()}
    />
  )
}
