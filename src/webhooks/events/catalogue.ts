import { dataOf, type DataTable } from './catalogue-data.ts'

export interface EventType {
  readonly type: string
  /** One sentence that says when such an event happens. */
  readonly description: string
  /** JSON Schema (2020-12) of the whole body. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly sample: Readonly<Record<string, unknown>>
}

const sampleId = '01kfxq3v5w2m8r4t6y0z9abcde'
const sampleTime = '2026-11-21T09:30:00.000Z'
const draft = 'https://json-schema.org/draft/2020-12/schema'

/** All event types, in the documentation's order. */
export const eventTypes: readonly EventType[] = Object.entries(dataOf).map(([type, entry]) => ({
  type,
  description: entry.description,
  schema: schemaOf(type, entry.data),
  sample: {
    id: `evt_${sampleId}`,
    type,
    timestamp: sampleTime,
    api_version: 'v1',
    organization_id: `org_${sampleId}`,
    sequence: 42,
    data: sampleData(entry.data),
  },
}))

const byName = new Map(eventTypes.map((entry) => [entry.type, entry]))

export function findEventType(type: string): EventType | undefined {
  return byName.get(type)
}

function sampleData(table: DataTable): Record<string, unknown> {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, field.sample]))
}

function schemaOf(type: string, table: DataTable): Record<string, unknown> {
  const fields = Object.entries(table)
  return {
    $schema: draft,
    title: type,
    type: 'object',
    required: ['id', 'type', 'timestamp', 'api_version', 'organization_id', 'sequence', 'data'],
    properties: {
      id: { type: 'string', pattern: '^evt_[0-9a-z]{26}$' },
      type: { const: type },
      timestamp: { type: 'string', format: 'date-time' },
      api_version: { const: 'v1' },
      organization_id: { type: 'string', pattern: '^org_[0-9a-z]{26}$' },
      sequence: { type: 'integer', minimum: 1 },
      data: {
        type: 'object',
        required: fields.filter(([, field]) => field.required).map(([name]) => name),
        properties: Object.fromEntries(
          fields.map(([name, field]) => [
            name,
            { ...field.schema, description: field.description },
          ]),
        ),
        // Members may be added within v1, so receivers must ignore unknown ones.
        additionalProperties: true,
      },
    },
    additionalProperties: true,
  }
}
