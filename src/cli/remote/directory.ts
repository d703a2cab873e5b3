import type { Directories } from '../../directory/index.ts'
import type { DirectoryTokenRecord } from '../../store/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { createSecret, msOf } from './values.ts'

type TokenJson = Readonly<Record<string, unknown>>

export function remoteDirectory(remote: Remote) {
  const at = (organizationId: string): string => `/organizations/${part(organizationId)}/directory`
  async function itemsOf(organizationId: string): Promise<TokenJson[]> {
    const path = `GET ${at(organizationId)}/tokens`
    return (await remote.call<{ items: TokenJson[] }>(path)).items
  }
  const tokens = {
    async issue({ id }, { name }) {
      const made = await remote.call<{ token: TokenJson; secret: string }>(
        `POST ${at(id)}/tokens`,
        { name },
      )
      return { token: toToken(made.token), secret: createSecret(made.secret) }
    },
    list: async (organizationId) => (await itemsOf(organizationId)).map(toToken),
    async listOfLeavers(organizationId) {
      const theirs = (await itemsOf(organizationId)).filter((json) => json['issuer_left'] === true)
      return new Set(theirs.map(({ id }) => String(id)))
    },
    revoke: async (organizationId, id) =>
      toToken(await remote.call(`POST ${at(organizationId)}/tokens/${part(id)}/revoke`, {})),
  } satisfies Partial<Directories['tokens']>
  return {
    tokens,
    /** The URL to which the directory sends its requests. */
    async baseOf(organizationId: string): Promise<string> {
      const found = await remote.call<{ base_address: string }>(`GET ${at(organizationId)}`)
      return found.base_address
    },
  }
}

function toToken(json: TokenJson): DirectoryTokenRecord {
  return {
    id: json['id'],
    name: json['name'],
    hint: json['hint'],
    createdAt: msOf(json['created_at']),
    lastUsedAt: msOf(json['last_used_at']),
    revokedAt: msOf(json['revoked_at']),
  } as unknown as DirectoryTokenRecord
}
