import { record } from '../audit/index.ts'
import type { Actor, ConnectionRecord, Tx, AuditVerb } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

/** Returns the properties of a connection that the audit log records; the credential's secret is not among them. */
export function describe(connection: ConnectionRecord): Record<string, unknown> {
  const { name, kind, issuer, clientId, credentialKind, settings } = connection
  return { name, kind, issuer, client_id: clientId, credential: credentialKind, settings }
}

interface ConnectionNews {
  readonly actor: Actor
  readonly change: AuditVerb<'sso.connection_'>
  readonly detail?: Record<string, unknown>
}

export function announce(
  tx: Tx,
  connection: ConnectionRecord,
  { actor, change, detail = {} }: ConnectionNews,
): void {
  const { organizationId, id, name, issuer } = connection
  record(tx, {
    organizationId,
    actor,
    action: `sso.connection_${change}`,
    subject: { kind: 'connection', id },
    detail: { name, ...detail },
  })
  publish(tx, {
    organizationId,
    type: 'sso.connection_changed',
    data: { connection_id: id, issuer, name, change },
  })
}
