import { renderAttributes, scopeOf, type Attributes } from './otlp.ts'

/** A log record for a collector. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The kind of event, written as `noun.verb`. */
  readonly event: string
  readonly isWarning: boolean
  readonly body: string
  readonly attributes: Attributes
}

const severityInfo = 9
const severityWarning = 13

/**
 * Renders the body of an OTLP/HTTP request for logs (opentelemetry-proto 1.x, JSON mapping: 64-bit numbers as strings).
 */
export function renderLogs(records: readonly LogRecord[], resource: Attributes): string {
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: renderAttributes(resource) },
        scopeLogs: [{ scope: scopeOf(resource), logRecords: records.map(renderLog) }],
      },
    ],
  })
}

function renderLog(record: LogRecord): object {
  const time = String(BigInt(Math.round(record.at)) * 1_000_000n)
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: record.isWarning ? severityWarning : severityInfo,
    severityText: record.isWarning ? 'WARN' : 'INFO',
    eventName: record.event,
    body: { stringValue: record.body },
    attributes: renderAttributes(record.attributes),
  }
}
