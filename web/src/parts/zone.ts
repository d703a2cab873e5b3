import { useSyncExternalStore } from 'react'
import { dateLocale } from '../../words/locale.ts'

const storageName = 'time-zone'
const listeners = new Set<() => void>()
const local = Intl.DateTimeFormat().resolvedOptions().timeZone
let utc = read()

/** The name of the time zone in which times are displayed, such as Europe/Berlin, or UTC if that was chosen. */
export function zoneName(): string {
  return utc ? 'UTC' : local
}

/** The short name of the time zone for a column's heading: GMT+1, UTC. */
export function zoneShort(): string {
  const parts = formatIn('zone', { timeZoneName: 'short' }).formatToParts(Date.now())
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zoneName()
}

/** How far the displayed time zone is ahead of UTC at a given time, in milliseconds; negative if it is behind. */
export function zoneOffsetMs(ms: number): number {
  return utc ? 0 : new Date(ms).getTimezoneOffset() * -60_000
}

export function useUtc(): readonly [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => utc,
  )
  return [on, write]
}

/** Returns a date format for the chosen zone. It is cached by `name`, so a name must always have the same options. */
export function formatIn(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const id = `${zoneName()} ${name}`
  const known = formats.get(id)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(dateLocale, { ...options, timeZone: zoneName() })
  formats.set(id, made)
  return made
}

const formats = new Map<string, Intl.DateTimeFormat>()

function write(on: boolean): void {
  utc = on
  try {
    localStorage.setItem(storageName, on ? 'utc' : 'local')
  } catch {
    // Storage is unavailable, so the choice lasts only as long as the page.
  }
  for (const listener of listeners) listener()
}

function read(): boolean {
  try {
    return localStorage.getItem(storageName) === 'utc'
  } catch {
    return false
  }
}
