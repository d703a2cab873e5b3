import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'

/** Who did it, in words. */
export function actorName(entry: AuditEntry): string {
  return entry.actor.name ?? w.actorKinds[entry.actor.kind] ?? entry.actor.kind
}
