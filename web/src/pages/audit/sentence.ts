import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'

/** Describes an entry in a sentence: "Revoked the key deploy-bot". */
export function sentenceOf(entry: AuditEntry): string {
  const thing = thingOf(entry)
  const sentence = w.sentences[entry.action]
  return sentence?.(thing) ?? w.other(entry.action.replaceAll(/[._]/g, ' '), thing)
}

/** What to call the subject: its name, or else another text in the entry, such as its slug or URL, or else its id. */
function thingOf({ subject, detail }: AuditEntry): string {
  const known = [
    subject.name,
    ...['name', 'slug', 'email', 'domain', 'url', 'user_name', 'display_name'].map(
      (one) => detail[one],
    ),
  ]
  const after = detail['after'] as Readonly<Record<string, unknown>> | undefined
  const name = [...known, after?.['name'], after?.['slug']].find(
    (one) => typeof one === 'string' && one !== '',
  )
  return typeof name === 'string' ? name : subject.id
}
