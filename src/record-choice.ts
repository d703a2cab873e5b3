/** Which calls leave a record: all, those that were refused, one in `n`, or none. */
export type RecordChoice = 'all' | 'refused' | 'none' | `sampled 1/${number}`

/** Reads a choice; undefined if it is none. */
export function parseRecordChoice(text: string): RecordChoice | undefined {
  if (text === 'all' || text === 'refused' || text === 'none') return text
  const [, n] = /^sampled 1\/([1-9]\d{0,6})$/.exec(text) ?? []
  return n === undefined ? undefined : `sampled 1/${Number(n)}`
}
