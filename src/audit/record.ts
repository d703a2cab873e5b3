import type { AuditDraft, Tx } from '../store/index.ts'

/** Records a change in the transaction that makes it; the ledger numbers and chains the entry at the commit. */
export function record(tx: Tx, draft: AuditDraft): void {
  tx.audit(draft)
}
