import type { Attribute } from './attributes.ts'

/** Folds text for comparison: to lower case, unless the schema says that case matters. */
export function foldText(attribute: Attribute, text: string): string {
  return attribute.caseExact ? text : foldCase(text)
}

/** Folds to lower case in composed form, so that `Ünal` and `ÜNAL` are equal however they were typed. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

const shape = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[-+]\d\d:\d\d)?)?$/

/**
 * Parses an `xsd:dateTime` (RFC 7643 section 2.3.5), or a date alone, to milliseconds since 1970. A time without a zone
 * is UTC. Returns undefined for any other text.
 */
export function parseTime(text: string): number | undefined {
  if (!shape.test(text)) return undefined
  const zoned = /(?:Z|[-+]\d\d:\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`
  const time = Date.parse(zoned)
  return Number.isNaN(time) ? undefined : time
}
