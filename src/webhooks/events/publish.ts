import type { EventDraft, Tx } from '../../store/index.ts'
import type { EventData, EventTypeName } from './catalogue-data.ts'

export interface Announcement<Type extends EventTypeName = EventTypeName> extends Omit<
  EventDraft,
  'type' | 'data'
> {
  readonly type: Type
  readonly data: EventData<Type>
}

/** Publishes an event when the transaction commits; its sequence number and bytes are fixed then. */
export function publish<const Type extends EventTypeName>(
  tx: Tx,
  announcement: Announcement<Type>,
): void {
  tx.event(announcement)
}
