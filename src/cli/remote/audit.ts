import type { Audit, SignedHead } from '../../audit/index.ts'
import { Problem } from '../../errors.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { msOf, timeOf } from './values.ts'

type Entries = Awaited<ReturnType<Audit['list']>>

interface ChainJson {
  readonly entries: number
  readonly broken_at: number | null
  readonly reason: string | null
  readonly last_hash: string
}

interface EntryJson {
  readonly [name: string]: unknown
  readonly actor: {
    readonly kind: string
    readonly id: string | null
    readonly name: string | null
  }
  readonly subject: { readonly kind: string; readonly id: string }
}

/** Implements the operations on the audit log by calling a server's API. The server verifies the chain. */
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
    async head(organizationId) {
      const head = await remote.call<SignedHead & { organization_id: string }>(
        `GET /organizations/${part(organizationId)}/audit/head`,
      )
      const { organization_id: id, sequence, hash, seal } = head
      return { organizationId: id, sequence, hash, seal }
    },
    async verify(organizationId, against) {
      if (against !== undefined) {
        throw new Problem(
          'not_found',
          'A head is held against the database itself: run it there, without --server.',
        )
      }
      const report = await remote.call<ChainJson>(
        `GET /organizations/${part(organizationId)}/audit/chain`,
      )
      return {
        entries: report.entries,
        brokenAt: report.broken_at ?? undefined,
        reason: report.reason ?? undefined,
        lastHash: report.last_hash,
      }
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
