import {
  fieldsFromJson,
  fieldsToJson,
  type Key,
  type KeyFieldsJson,
  type KeyInput,
  type Keys,
} from '../../access/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { toConfirmation, type Confirmed } from './confirmed.ts'
import { createSecret, msOf, organizationFor, recordOf, timeOf } from './values.ts'

type IssueInput = Parameters<Keys['issue']>[1]

interface WhoAmIJson {
  readonly organization: { readonly slug: string }
  readonly key: {
    readonly id: string
    readonly name: string
    readonly hint: string
    readonly expires_at: string | null
  }
}

type KeyJson = Partial<KeyFieldsJson> & Readonly<Record<string, unknown>>

export function remoteKeys(remote: Remote) {
  const at = (organizationId: string, id?: string): string =>
    `/organizations/${part(organizationId)}/keys${id === undefined ? '' : `/${part(id)}`}`
  return {
    organizationOf: async () => organizationFor(remote) as Key['organizationId'],
    async list(organizationId, { limit, labels = [] }) {
      const search = new URLSearchParams()
      for (const { name, value } of labels) {
        search.append('label', value === undefined ? name : `${name}:${value}`)
      }
      const path =
        search.size === 0 ? at(organizationId) : `${at(organizationId)}?${search.toString()}`
      return (await remote.list<KeyJson>(path, limit)).map(toKey)
    },
    get: async (organizationId, id) => toKey(await remote.call(`GET ${at(organizationId, id)}`)),
    async issue(organizationId, input) {
      const made = await remote.call<{ key: KeyJson; secret: string }>(
        `POST ${at(organizationId)}`,
        // Undefined addresses are left out: they mean the organization's default, and null means any.
        { ...bodyOf(input), cidrs: input.cidrs, scheme: input.scheme },
      )
      return { key: toKey(made.key), secret: createSecret(made.secret) }
    },
    edit: async (organizationId, id, { input, expectedVersion }) =>
      toKey(await remote.call(`PUT ${at(organizationId, id)}`, bodyOf(input), expectedVersion)),
    async rotate(organizationId, id, { overlapMs }) {
      const done = await remote.call<{ key: KeyJson; secret: string; confirmation: Confirmed }>(
        `POST ${at(organizationId, id)}/rotate`,
        { overlap_seconds: Math.round(overlapMs / 1000) },
      )
      const { key, secret, confirmation } = done
      return {
        key: toKey(key),
        secret: createSecret(secret),
        confirmation: toConfirmation(confirmation),
      }
    },
    async revoke(organizationId, id) {
      const { key, confirmation } = await remote.call<{ key: KeyJson; confirmation: Confirmed }>(
        `POST ${at(organizationId, id)}/revoke`,
        {},
      )
      return { key: toKey(key), confirmation: toConfirmation(confirmation) }
    },
  } satisfies Partial<Keys>
}

/**
 * Identifies a working key and its organization by asking the gateway; throws the gateway's refusal of any other key.
 */
export async function whoIs(remote: Remote, credential: Readonly<Record<string, string>>) {
  const { organization, key } = await remote.whoAmI<WhoAmIJson>(credential)
  const { id, name, hint } = key
  return { id, name, hint, organization: organization.slug, expiresAt: msOf(key.expires_at) }
}

/** Renders a key's fields for a request; an undefined expiry is left out. */
function bodyOf({ name, expiresAt, cidrs, ...input }: KeyInput | IssueInput) {
  const fields = fieldsToJson({ ...input, cidrs: cidrs ?? undefined })
  return { name, ...fields, expires_at: timeOf(expiresAt) }
}

function toKey(json: KeyJson): Key {
  // The API reports that a key is suspended but not since when.
  const suspendedAt = json['state'] === 'suspended' ? 0 : undefined
  const key = { ...recordOf(json), ...fieldsFromJson(json), organizationId: '', suspendedAt }
  return key as unknown as Key
}
