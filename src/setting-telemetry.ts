/** The settings of telemetry; their names and formats are OpenTelemetry's where it defines them. */
import { samplerNames } from './telemetry/index.ts'
import {
  parseOff,
  parseOneOf,
  parsePairs,
  parseRatio,
  parseText,
  parseUrlOf,
  secret,
  setting,
} from './setting.ts'

export const telemetryTable = {
  ACCESS_LOG: setting(
    'off',
    'stdout, or a file: one JSON line for each call and request',
    parseOff(parseText),
  ),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: setting(
    '',
    'where to send call records and audit entries as logs (OTLP over HTTP as JSON; the whole address)',
    parseUrlOf(['https:', 'http:']),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    '',
    'where to send traces (OTLP over HTTP)',
    parseUrlOf(['https:', 'http:']),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret('', 'headers for the collector: name=value,…', parsePairs),
  OTEL_SERVICE_NAME: setting('', 'what this service is called (default: intercept)', parseText),
  OTEL_RESOURCE_ATTRIBUTES: setting('', 'more about this service: name=value,…', parsePairs),
  OTEL_TRACES_SAMPLER: setting(
    'parentbased_always_on',
    'which traces are reported',
    parseOneOf(samplerNames),
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    '1',
    'the part of all traces that traceidratio reports, from 0 to 1',
    parseRatio,
  ),
} as const
