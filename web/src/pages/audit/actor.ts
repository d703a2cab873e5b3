import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'

/** Who did it, in words. */
export function actorName(entry: AuditEntry): string {
  const { kind, name } = entry.actor
  // What the product itself does has an English name in the log.
  if (kind === 'system' && name !== undefined && name !== null) return w.systemActors[name] ?? name
  return name ?? w.actorKinds[kind] ?? kind
}
