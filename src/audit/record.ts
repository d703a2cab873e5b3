import type { AuditDraft, Transaction } from '../store/index.ts'

/** Records a change in the transaction that makes it; the ledger numbers and chains it at the commit. */
export function record(tx: Transaction, draft: AuditDraft): void {
  tx.audit(draft)
}
