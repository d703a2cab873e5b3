import type { Audit } from '../../audit/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { msOf, timeOf } from './values.ts'

type Entries = Awaited<ReturnType<Audit['list']>>

interface EntryJson {
  readonly [name: string]: unknown
  readonly actor: {
    readonly kind: string
    readonly id: string | null
    readonly name: string | null
  }
  readonly subject: { readonly kind: string; readonly id: string }
}

/** What commands do with the audit log, over the API: look at it. */
export function remoteAudit(remote: Remote) {
  return {
    async list(organizationId, page) {
      const { limit, action, actorId, subjectId, search, from } = page
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries({
        ...{ action, actor_id: actorId, subject_id: subjectId, search, from: timeOf(from) },
      })) {
        if (typeof value === 'string') query.set(name, value)
      }
      const path = `/organizations/${part(organizationId)}/audit?${query.toString()}`
      return (await remote.list<EntryJson>(path, limit)).map(toEntry)
    },
  } satisfies Partial<Audit>
}

function toEntry(json: EntryJson): Entries[number] {
  const { actor, subject } = json
  return {
    id: json['id'],
    sequence: json['sequence'],
    at: msOf(json['at']),
    actor: { kind: actor.kind, id: actor.id ?? undefined, name: actor.name ?? undefined },
    action: json['action'],
    subject: { kind: subject.kind, id: subject.id },
    detail: json['detail'],
    address: json['address'] ?? undefined,
    requestId: json['request_id'] ?? undefined,
    hash: json['hash'],
  } as unknown as Entries[number]
}
