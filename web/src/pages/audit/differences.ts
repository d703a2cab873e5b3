export interface FieldChange {
  readonly field: string
  readonly before: string
  readonly after: string
}

export function differences(detail: Readonly<Record<string, unknown>>): readonly FieldChange[] {
  const before = asObject(detail['before'])
  const after = asObject(detail['after'])
  if (before === undefined && after === undefined) return []
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return fields
    .map((field) => ({ field, before: text(before?.[field]), after: text(after?.[field]) }))
    .filter((change) => change.before !== change.after)
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

function text(value: unknown): string {
  if (value === undefined || value === null) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
