import type { Key } from '../../access/index.ts'
import { Type, type Static } from '../../http/index.ts'
import { isAllowed } from '../core/caller.ts'
import { route, type RouteOrganization } from '../core/route.ts'
import type { Services } from '../core/services.ts'
import { oneOf } from '../core/schemas.ts'

const maxLookedAt = 200

const Item = Type.Object(
  {
    kind: Type.String(),
    title: Type.String(),
    text: Type.String(),
    subject_kind: oneOf(['key', 'target', 'endpoint', 'domain', 'access_token', 'scim_token']),
    subject_id: Type.String(),
    /** `refuse`: something already fails, is refused or is lost; `waits`: this has not happened yet. */
    severity: oneOf(['refuse', 'waits']),
  },
  { title: 'Attention' },
)
type Item = Static<typeof Item>

/** The things that need a person's attention, and the progress of setting up a new organization. */
export const attentionRoutes = {
  'GET /organizations/:organization/attention': route({
    summary: "What needs a person's attention, most severe first",
    permission: 'traffic.see',
    answer: Type.Object({ items: Type.Array(Item) }),
    handle: async ({ organization }, services) => {
      const found = await Promise.all([
        ofTargets(organization, services),
        ofEndpoints(organization, services),
        ofDomains(organization, services),
        ofKeys(organization, services),
        ofAccessTokens(organization, services),
        ofScimTokens(organization, services),
      ])
      const items = found.flat()
      const gravest = items.filter(({ severity }) => severity === 'refuse')
      return { items: [...gravest, ...items.filter(({ severity }) => severity === 'waits')] }
    },
  }),

  'GET /organizations/:organization/first-steps': route({
    summary: "The progress of a new organization's first steps",
    permission: 'traffic.see',
    answer: Type.Object(
      {
        target: Type.Boolean(),
        key: Type.Boolean(),
        call: Type.Boolean(),
        endpoint: Type.Boolean(),
        invited: Type.Boolean(),
      },
      { title: 'FirstSteps' },
    ),
    handle: async ({ organization: { id } }, services) => {
      const one = { limit: 1 }
      const keys = await services.keys.list(id, { limit: maxLookedAt })
      return {
        target: (await services.targets.slugs(id)).size > 0,
        key: keys.length > 0,
        call: keys.some((key) => key.lastUsedAt !== undefined),
        endpoint: (await services.webhooks.endpoints.list(id)).length > 0,
        invited:
          (await services.invitations.list(id, one)).length > 0 ||
          (await services.members.list(id, { limit: 2 })).length > 1,
      }
    },
  }),
}

async function ofTargets({ id }: RouteOrganization, services: Services): Promise<Item[]> {
  const traffic = await services.traffic.ofTargets(id)
  return (await services.targets.list(id)).flatMap((target): Item[] => {
    const recent = traffic.get(target.id)?.recent
    if (!recent || recent.calls === 0 || recent.errors * 2 < recent.calls) return []
    return [
      {
        kind: 'target_failing',
        title: `${target.slug} is failing`,
        text: `${recent.errors} of ${recent.calls} calls in the last 15 minutes ended in an error of the upstream.`,
        subject_kind: 'target',
        subject_id: target.slug,
        severity: 'refuse',
      },
    ]
  })
}

async function ofEndpoints({ id }: RouteOrganization, services: Services): Promise<Item[]> {
  return (await services.webhooks.endpoints.list(id)).flatMap((endpoint): Item[] => {
    const { state, disabledReason } = endpoint.health
    const subject = { subject_kind: 'endpoint', subject_id: endpoint.id } as const
    if (state === 'disabled' && disabledReason !== 'by_hand') {
      const title = `${new URL(endpoint.url).host} is disabled`
      const text = 'Its events are skipped. Repair the receiver, switch it on, and replay.'
      return [{ kind: 'endpoint_disabled', title, text, ...subject, severity: 'refuse' }]
    }
    if (state !== 'held') return []
    const title = `${new URL(endpoint.url).host} is held`
    const text = 'It has failed many times in a row. Its events wait and are sent when it answers.'
    return [{ kind: 'endpoint_held', title, text, ...subject, severity: 'waits' }]
  })
}

async function ofDomains({ id }: RouteOrganization, services: Services): Promise<Item[]> {
  return (await services.sso.domains.list(id)).flatMap((domain): Item[] => {
    if (domain.lostAt === undefined) return []
    const title = `${domain.name} is not proven any more`
    const text = 'Its TXT record is gone, so its people cannot sign in through the company.'
    const subject = { subject_kind: 'domain', subject_id: domain.id } as const
    return [{ kind: 'domain_lost', title, text, ...subject, severity: 'refuse' }]
  })
}

async function ofKeys({ id }: RouteOrganization, services: Services): Promise<Item[]> {
  const nowMs = services.clock.now()
  const page = { limit: maxLookedAt }
  const expiring = await services.keys.list(id, { ...page, state: 'expiring' })
  const active = await services.keys.list(id, { ...page, state: 'active' })
  return [
    ...expiring.map((key) =>
      keyItem(key, {
        kind: 'key_expiring',
        title: `${key.name} ends soon`,
        text: endsText(key),
      }),
    ),
    ...active
      .filter((key) => hasStraggler(key, nowMs))
      .map((key) =>
        keyItem(key, {
          kind: 'key_straggler',
          title: `Somebody still uses the old secret of ${key.name}`,
          text: 'It stops working when the overlap ends. Give them the new one, or end the old one now.',
        }),
      ),
  ]
}

/** Lists access tokens that expire soon, only for callers who manage tokens: nobody else may see the tokens' names. */
async function ofAccessTokens(
  organization: RouteOrganization,
  services: Services,
): Promise<Item[]> {
  if (!isAllowed(organization, 'tokens.manage')) return []
  const expiring = await services.accessTokens.listExpiring(organization.id, maxLookedAt)
  return expiring.map(({ id, name, expiresAt }) => ({
    kind: 'access_token_expiring',
    title: `The access token ${name} ends soon`,
    text: `It ends on ${dayAndTime(expiresAt)}; its program is refused from then on. Issue another, and revoke this one.`,
    subject_kind: 'access_token',
    subject_id: id,
    severity: 'waits',
  }))
}

/** Lists active SCIM tokens whose issuer has lost the right to manage sign-in, but may still know the secret. */
async function ofScimTokens(organization: RouteOrganization, services: Services): Promise<Item[]> {
  if (!isAllowed(organization, 'sso.manage')) return []
  const { tokens } = services.directories
  const found = await tokens.list(organization.id)
  const ofLeavers = await tokens.listOfLeavers(organization.id, found)
  const theirs = found.filter(({ id }) => ofLeavers.has(id))
  return theirs.map(({ id, name }) => ({
    kind: 'scim_token_issuer_left',
    title: `The issuer of the SCIM token ${name} is no longer an administrator`,
    text: 'They may know its secret. Issue another, give it to the directory, and revoke this one.',
    subject_kind: 'scim_token',
    subject_id: id,
    severity: 'waits',
  }))
}

/** Whether an old secret that is still valid was used after a rotation created the current one. */
function hasStraggler(key: Key, nowMs: number): boolean {
  const [current, ...older] = key.secrets
  return older.some(
    ({ validUntil = 0, lastUsedAt = 0 }) =>
      current !== undefined && validUntil > nowMs && lastUsedAt > current.createdAt,
  )
}

function endsText(key: Key): string {
  return `It ends on ${dayAndTime(key.expiresAt)}; its callers are refused from then on. Give it a later end, or issue another.`
}

function dayAndTime(ms = 0): string {
  const [day, clock] = new Date(ms).toISOString().split(/[T.]/)
  return `${day ?? ''} at ${clock ?? ''} UTC`
}

function keyItem(key: Key, what: Pick<Item, 'kind' | 'title' | 'text'>): Item {
  return { ...what, subject_kind: 'key', subject_id: key.id, severity: 'waits' }
}
