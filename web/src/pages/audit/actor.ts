import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'

/** The actor's name in words. */
export function actorName(entry: AuditEntry): string {
  const { kind, name } = entry.actor
  // In the log, actions of the product itself have an English name.
  if (kind === 'system' && name !== undefined && name !== null) return w.systemActors[name] ?? name
  return name ?? w.actorKinds[kind] ?? kind
}
