import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'

export function actorName(entry: AuditEntry): string {
  const { kind, name } = entry.actor
  // The log names the product's own components in English, so those names are translated here.
  if (kind === 'system' && name !== undefined && name !== null) return w.systemActors[name] ?? name
  return name ?? w.actorKinds[kind] ?? kind
}
