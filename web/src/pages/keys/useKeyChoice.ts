import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Refused } from '../../api/call.ts'
import { keysFoundQuery } from '../../api/palette.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import type { Option } from '../../parts/Field.tsx'

const noKey: Option = { value: '', label: w.noKey }

/** The chosen or typed key; initially the given one, or else the newest. */
export function useKeyChoice(organization: string, given: string | undefined) {
  const client = useQueryClient()
  const [typed, setTyped] = useState<string>()
  const [picked, setPicked] = useState<Option>()
  const start = useQuery(keysFoundQuery(organization, given ?? '')).data?.items[0]
  const chosen = picked ?? (start === undefined ? noKey : { value: start.id, label: start.name })

  /** Returns the key's id, or '' for no key. Looks a typed name up, and throws if no key is found. */
  async function idOf(): Promise<string> {
    const name = typed?.trim()
    if (name === undefined) return chosen.value
    if (name === '' || name === noKey.label) return ''
    const { items } = await client.fetchQuery(keysFoundQuery(organization, name))
    const found = items.find((key) => key.name === name) ?? items[0]
    if (found === undefined) throw new Refused(0, 'not_found', { detail: w.noSuchKey(name) })
    return found.id
  }
  return {
    idOf,
    picker: {
      text: typed ?? chosen.label,
      first: noKey,
      onText: setTyped,
      onPick: (option: Option) => {
        setPicked(option)
        setTyped(undefined)
      },
    },
  }
}
