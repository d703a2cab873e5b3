import { Problem } from '../../errors.ts'
import type { LabelFilter, Labels } from '../../store/index.ts'

export const maxLabels = 16
export const maxLabelValue = 128

export const labelNamePattern = '^[a-z][a-z0-9_.-]{0,62}$'
/** A text on one line: no control characters. */
export const labelValuePattern = `^[^\\u0000-\\u001f\\u007f-\\u009f]{0,${maxLabelValue}}$`

const labelName = new RegExp(labelNamePattern, 'u')
const labelValue = new RegExp(labelValuePattern, 'u')

/** Throws `invalid_input` for too many labels, or for names and values that do not match their patterns. */
export function checkLabels(labels: Labels): void {
  const pairs = Object.entries(labels)
  if (pairs.length > maxLabels) {
    throw new Problem('invalid_input', `A key has at most ${maxLabels} labels.`)
  }
  for (const [name, value] of pairs) {
    if (!labelName.test(name)) throw new Problem('invalid_input', wrongName(name))
    if (typeof value !== 'string' || !labelValue.test(value)) {
      throw new Problem(
        'invalid_input',
        `The value of the label ${name} has up to ${maxLabelValue} characters on one line.`,
      )
    }
  }
}

/** Returns labels sorted by name, so that equal labels are written identically; undefined if there are none. */
export function inOrder(labels: Labels): Labels | undefined {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

/** Writes labels as `env=prod, team=payments`. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

/**
 * Parses labels, each written as `team=payments`; throws an Error whose message continues a sentence that begins with
 * the flag's name.
 */
export function parseLabels(texts: readonly string[]): Labels {
  const labels = new Map<string, string>()
  for (const text of texts) {
    const at = text.indexOf('=')
    if (at < 1) throw new Error('must be NAME=VALUE, such as team=payments')
    const name = text.slice(0, at)
    if (labels.has(name)) throw new Error(`gives ${name.slice(0, 63)} two values`)
    labels.set(name, text.slice(at + 1))
  }
  return Object.fromEntries(labels)
}

/**
 * Parses a filter: `team` finds keys with that label; `team:payments`, with the given separator, only keys whose label
 * has that value. Throws `invalid_input`.
 */
export function parseLabelFilter(text: string, separator: ':' | '='): LabelFilter {
  const at = text.indexOf(separator)
  const name = at < 0 ? text : text.slice(0, at)
  if (!labelName.test(name)) throw new Problem('invalid_input', wrongName(name))
  return at < 0 ? { name } : { name, value: text.slice(at + 1) }
}

function wrongName(name: string): string {
  return `${JSON.stringify(name.slice(0, 63))} is no name of a label: it begins with a lower-case letter and has up to 63 of a–z, 0–9, ".", "_" and "-".`
}
