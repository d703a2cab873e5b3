import { keysWords } from '../../../words/en/keys.ts'

const w = keysWords.labels
const maxLabels = 16
const maxValue = 128
const labelName = /^[a-z][a-z0-9_.-]{0,62}$/

/** Whether a text has the form of a label filter: a name (`team`), or a name with a value (`team:payments`). */
export function isLabelFilter(text: string): boolean {
  return labelName.test(text.split(':', 1)[0] ?? '')
}

/** Splits the URL's label parameter at line breaks, which no label can contain. */
export function labelsInAddress(text: string | undefined): readonly string[] {
  return (text ?? '').split('\n').filter(Boolean)
}

/** Formats labels as the form shows them: one NAME=VALUE per line. */
export function labelLines(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

/** Parses labels typed into the form; `wrong` is the message for the first mistake, undefined if there is none. */
export function readLabels(text: string): {
  readonly labels: Readonly<Record<string, string>>
  readonly wrong: string | undefined
} {
  const labels = new Map<string, string>()
  let wrong: string | undefined
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    const at = line.indexOf('=')
    const name = (at < 0 ? line : line.slice(0, at)).trim()
    const value = line.slice(at + 1).trim()
    if (at < 0) wrong ??= w.wrongLine(line)
    else if (!labelName.test(name)) wrong ??= w.wrongName(name)
    else if (labels.has(name)) wrong ??= w.twice(name)
    else if (Array.from(value).length > maxValue) wrong ??= w.tooLong(name)
    labels.set(name, value)
  }
  if (labels.size > maxLabels) wrong ??= w.tooMany(maxLabels)
  return { labels: Object.fromEntries(labels), wrong }
}
