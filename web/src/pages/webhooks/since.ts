const hourMs = 3_600_000
const lengths = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const

/** The lengths of time that lists offer. */
export const sinceLengths = ['hour', 'day', 'week'] as const

/** When such a length began, for the address bar. */
export function since(length: string): string | undefined {
  const ms = (lengths as Readonly<Record<string, number>>)[length]
  return ms === undefined ? undefined : new Date(Date.now() - ms).toISOString()
}
