/**
 * Which calls to record: `refused` means the calls that were refused or failed while being forwarded; `sampled 1/n`
 * means these and one in `n` of the others.
 */
export type RecordChoice = 'all' | 'refused' | 'none' | `sampled 1/${number}`

/** Parses a choice; undefined if it is invalid. */
export function parseRecordChoice(text: string): RecordChoice | undefined {
  if (text === 'all' || text === 'refused' || text === 'none') return text
  const [, n] = /^sampled 1\/([1-9]\d{0,6})$/.exec(text) ?? []
  return n === undefined ? undefined : `sampled 1/${Number(n)}`
}
