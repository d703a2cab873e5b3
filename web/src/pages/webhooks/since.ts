const hourMs = 3_600_000
const lengths = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const

export const sinceLengths = ['hour', 'day', 'week'] as const

/** Returns when the time span of this name began (ISO 8601), counted back from now; undefined for an unknown name. */
export function since(length: string): string | undefined {
  const ms = (lengths as Readonly<Record<string, number>>)[length]
  return ms === undefined ? undefined : new Date(Date.now() - ms).toISOString()
}
