import type { Attributes } from './otlp.ts'

/**
 * Returns the attributes that identify this service to a collector: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and the
 * version.
 */
export function resourceOf(given: {
  readonly serviceName: string | undefined
  readonly attributes: Readonly<Record<string, string>>
  readonly version: string
}): Attributes {
  const { serviceName, attributes, version } = given
  return {
    'service.name': 'intercept',
    'service.version': version,
    ...attributes,
    // OTEL_SERVICE_NAME takes precedence over service.name in OTEL_RESOURCE_ATTRIBUTES.
    ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
  }
}
