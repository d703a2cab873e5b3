import type { AccessTokens } from '../../access/index.ts'
import type { AccessTokenRecord } from '../../store/index.ts'
import { Problem } from '../../errors.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { toConfirmation, type Confirmed } from './confirmed.ts'
import { createSecret, organizationFor, recordOf, timeOf } from './values.ts'

type TokenJson = Readonly<Record<string, unknown>>

/**
 * Implements the operations on access tokens by calling a server's API; operators' tokens are managed only on the
 * machine itself.
 */
export function remoteTokens(remote: Remote) {
  const at = (organizationId: string | undefined): string => {
    if (organizationId !== undefined) return `/organizations/${part(organizationId)}/access-tokens`
    throw new Problem(
      'person_required',
      "An operator's token is made and listed on the machine itself only.",
    )
  }
  return {
    async issue(input, { organization }) {
      const { name, permissions, cidrs, expiresAt } = input
      const made = await remote.call<{ access_token: TokenJson; secret: string }>(
        `POST ${at(organization?.id)}`,
        { name, permissions, cidrs, expires_at: timeOf(expiresAt) },
      )
      return { token: toToken(made.access_token), secret: createSecret(made.secret) }
    },
    list: async (organizationId, { limit }) =>
      (await remote.list<TokenJson>(at(organizationId), limit)).map(toToken),
    async find(id) {
      const organizationId = organizationFor(remote)
      const found = toToken(await remote.call(`GET ${at(organizationId)}/${part(id)}`))
      return { ...found, organizationId: organizationId as AccessTokenRecord['organizationId'] }
    },
    async revoke({ organizationId, id }) {
      const done = await remote.call<{ access_token: TokenJson; confirmation: Confirmed }>(
        `POST ${at(organizationId)}/${part(id)}/revoke`,
        {},
      )
      return {
        token: toToken(done.access_token),
        confirmation: toConfirmation(done.confirmation),
      }
    },
  } satisfies Partial<AccessTokens>
}

function toToken({ created_by: creatorUserId, ...json }: TokenJson): AccessTokenRecord {
  return {
    ...recordOf({ ...json, creator_user_id: creatorUserId }),
  } as unknown as AccessTokenRecord
}
