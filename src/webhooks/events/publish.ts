import type { EventDraft, Transaction } from '../../store/index.ts'
import { findEventType } from './catalogue.ts'

/**
 * Announces something in the transaction that makes it true; the ledger fixes its number and bytes at the commit. A type
 * that the catalogue does not know is our own mistake: nobody could have subscribed to it.
 */
export function publish(tx: Transaction, draft: EventDraft): void {
  if (!findEventType(draft.type)) throw new Error(`there is no event type ${draft.type}`)
  tx.event(draft)
}
