import { everyField, type Key, type KeyInput } from '../../access/index.ts'
import { read, refuseBoth, type Flag } from './command.ts'

type Purpose = 'issue' | 'edit'

/** Returns the flags with which a command sets a key's fields; for `edit`, also the flags that clear lists. */
export function fieldFlags(purpose: Purpose): Record<string, Flag> {
  const flags: Record<string, Flag> = {}
  for (const [, { flag }] of everyField) {
    const { name, value } = flag
    const about = purpose === 'issue' ? flag.about : flag.aboutEdit
    flags[name] = { type: 'string', multiple: flag.takes === 'many', value, about }
    if (flag.takes === 'many' && purpose === 'edit') {
      flags[flag.clear.flag] = { type: 'boolean', about: flag.clear.about }
    }
  }
  return flags
}

/** Renders the flags of `fieldFlags` for a command's usage line. */
export function fieldUsage(purpose: Purpose): string {
  const parts = everyField.map(([, { flag }]) => {
    const given = `--${flag.name} ${flag.sample}`
    if (purpose === 'issue') return flag.takes === 'many' ? `[${given}]…` : `[${given}]`
    return flag.takes === 'many' ? `[${given} | --${flag.clear.flag}]` : `[${given}|none]`
  })
  return parts.join(' ')
}

/**
 * Reads the fields that flags set. A field that a flag clears is undefined; a field that no flag mentions is missing.
 */
export function readFields(
  values: Readonly<Record<string, unknown>>,
  purpose: Purpose,
): Partial<KeyInput> {
  const given: Record<string, unknown> = {}
  for (const [, { column, flag }] of everyField) {
    const value = values[flag.name]
    const option = `--${flag.name}`
    if (flag.takes === 'one') {
      if (typeof value !== 'string') continue
      const isCleared = value === 'none' && purpose === 'edit'
      given[column] = isCleared ? undefined : read(option, value, (text) => flag.parse(text))
      continue
    }
    const isCleared = values[flag.clear.flag] === true
    refuseBoth(values, flag.name, flag.clear.flag)
    if (isCleared) given[column] = undefined
    else if (value !== undefined) {
      given[column] = read(option, value as readonly string[], (texts) => flag.parse(texts))
    }
  }
  return given
}

export function fieldLines(key: Key): [string, string][] {
  return everyField.map(([, { column, shown }]) => {
    const value = key[column]
    return [shown.label, value === undefined ? shown.none : shown.text(value)]
  })
}
