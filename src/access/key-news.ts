import { record } from '../audit/index.ts'
import { keys, type Actor, type KeyRecord, type Tx, type AuditVerb } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

interface KeyNews<Change extends string> {
  readonly change: Change
  readonly actor: Actor
  readonly detail?: Readonly<Record<string, unknown>>
}

/**
 * Records a change to a key in the audit log, notifies every node, and publishes an event to the organization's
 * receivers.
 */
export function announce(
  tx: Tx,
  key: KeyRecord,
  news: KeyNews<'issued' | 'rotated' | 'revoked' | 'expired'>,
): void {
  const { organizationId, id, name } = key
  const detail = { name, ...news.detail }
  recordChange(tx, key, { ...news, detail })
  publish(tx, {
    organizationId,
    type: `api_key.${news.change}`,
    data: { key_id: id, ...detail },
  })
}

/** Records a change to a key in the audit log and notifies every node, but publishes no event. */
export function recordChange(tx: Tx, key: KeyRecord, news: KeyNews<AuditVerb<'api_key.'>>): void {
  const { organizationId, id } = key
  const { actor, change, detail = {} } = news
  record(tx, {
    organizationId,
    actor,
    action: `api_key.${change}`,
    subject: { kind: 'api_key', id },
    detail: { ...detail },
  })
  tx.changed({ kind: 'key', organizationId, subjectId: id })
}

/**
 * Returns the scheme and the editable fields of a key, for audit entries and events; grants and CIDRs that restrict
 * nothing appear as `all`.
 */
export function describe(key: KeyRecord): Record<string, unknown> {
  return { ...keys.describe(key), grants: key.grants ?? 'all', cidrs: key.cidrs ?? 'all' }
}
