import type { Members } from '../../organizations/index.ts'
import type { MemberRecord } from '../../store/index.ts'
import { Problem } from '../../errors.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { toConfirmation, type Confirmed } from './confirmed.ts'
import { msOf } from './values.ts'

type MemberJson = Readonly<Record<string, unknown>>

/** Implements the operations on members by calling a server's API, which cannot add people without an invitation. */
export function remoteMembers(remote: Remote) {
  const at = (organizationId: string, id?: string): string =>
    `/organizations/${part(organizationId)}/members${id === undefined ? '' : `/${part(id)}`}`
  return {
    add: async () => {
      throw new Problem(
        'person_required',
        'Over the API people are invited, in the dashboard; `member add` works on the database only.',
      )
    },
    list: async (organizationId, { limit, after, search }) => {
      const query = new URLSearchParams()
      if (search !== undefined) query.set('search', search)
      if (after !== undefined) query.set('after', after)
      const path = `${at(organizationId)}?${query.toString()}`
      return (await remote.list<MemberJson>(path, limit)).map(toMember)
    },
    get: async (organizationId, id) => toMember(await remote.call(`GET ${at(organizationId, id)}`)),
    setRole: async ({ organizationId, id, role }) =>
      toMember(await remote.call(`PATCH ${at(organizationId, id)}`, { role })),
    async remove({ organizationId, id }) {
      const done = await remote.call<{ sessions: number; keys: number; confirmation: Confirmed }>(
        `DELETE ${at(organizationId, id)}`,
      )
      return { ...done, confirmation: toConfirmation(done.confirmation) }
    },
  } satisfies Partial<Members>
}

function toMember(json: MemberJson): MemberRecord {
  return {
    id: json['id'],
    userId: json['user_id'],
    email: json['email'] ?? undefined,
    name: json['name'],
    role: json['role'],
    source: json['source'],
    deactivatedAt: msOf(json['deactivated_at']),
    createdAt: msOf(json['joined_at']),
    lastSeenAt: msOf(json['last_seen_at']),
    version: json['version'],
  } as unknown as MemberRecord
}
