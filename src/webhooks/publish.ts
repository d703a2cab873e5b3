import type { EventDraft, Transaction } from '../store/index.ts'

/** Announces something in the transaction that makes it true; the ledger fixes its number and bytes at the commit. */
export function publish(tx: Transaction, draft: EventDraft): void {
  tx.event(draft)
}
