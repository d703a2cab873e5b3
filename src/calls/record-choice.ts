import type { CallRecord } from '../store/index.ts'
import type { RecordChoice } from '../record-choice.ts'

const maxTargets = 10_000

/**
 * Returns a function that decides whether a call leaves a record. Sampling keeps every nth call to each target, and
 * every call with a refusal, because refusals are few and important.
 */
export function createRecordChoice(): (entry: CallRecord, choice: RecordChoice) => boolean {
  const passed = new Map<string, number>()
  return (entry, choice) => {
    if (choice === 'all') return true
    if (choice === 'none') return false
    if (entry.stoppedAt !== undefined) return true
    if (choice === 'refused') return false
    const targetId = entry.targetId ?? ''
    if (passed.size >= maxTargets && !passed.has(targetId)) passed.clear()
    const number = passed.get(targetId) ?? 0
    passed.set(targetId, number + 1)
    return number % Number(choice.slice('sampled 1/'.length)) === 0
  }
}
