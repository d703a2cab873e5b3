/**
 * The choice of calls to record: all; only those with a refusal, our own or that the upstream failed; these and one in
 * `n` of the others; or none.
 */
export type RecordChoice = 'all' | 'refused' | 'none' | `sampled 1/${number}`

/** Parses a choice; undefined if it is invalid. */
export function parseRecordChoice(text: string): RecordChoice | undefined {
  if (text === 'all' || text === 'refused' || text === 'none') return text
  const [, n] = /^sampled 1\/([1-9]\d{0,6})$/.exec(text) ?? []
  return n === undefined ? undefined : `sampled 1/${Number(n)}`
}
