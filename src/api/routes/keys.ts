import { maxLabels, parseLabelFilter, type Key } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import type { Confirmation } from '../../store/index.ts'
import {
  ApiKey,
  KeyCallers,
  keyInputProperties,
  toApiKey,
  toKeyCallers,
  toKeyInput,
} from './key-schema.ts'
import { callerId, isAllowed, personOf } from '../core/caller.ts'
import { route, type RouteRequest } from '../core/route.ts'
import type { Services } from '../core/services.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../core/paging.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { momentOf } from '../core/moments.ts'
import { input, oneOf } from '../core/schemas.ts'

const maxOverlapSeconds = 90 * 24 * 3600
const Input = input(keyInputProperties)
const KeyAndConfirmation = Type.Object({ key: ApiKey, confirmation: Confirmed })

/** API keys: issue, edit, rotate and revoke. */
export const keyRoutes = {
  'GET /organizations/:organization/keys': route({
    summary: 'API keys, newest first',
    permission: 'traffic.see',
    query: Type.Object({
      ...pageQuery,
      state: Type.Optional(oneOf(['active', 'expiring', 'unused', 'expired', 'revoked'])),
      /** An id, part of a name, or the public part of a hint. */
      search: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      created_by: Type.Optional(Type.String({ maxLength: 60 })),
      /** A label's name, or its name and value as in team:payments; a key must have every label that is given. */
      label: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: maxLabels })),
    }),
    repeated: ['label'],
    answer: pageOf(ApiKey),
    handle: async ({ organization, query }, services) => {
      const before = idCursor('key', query.after)
      const { state, search, created_by: createdBy } = query
      const labels = query.label?.map((text) => parseLabelFilter(text, ':'))
      const page = { before, state, search, createdBy, labels, limit: limitOf(query) + 1 }
      return toPageById(query, await services.keys.list(organization.id, page), (key) =>
        toApiKey(key, services.clock.now()),
      )
    },
  }),

  'POST /organizations/:organization/keys': route({
    summary:
      'Issue a key; only this response contains its secret. Omitted fields take their defaults',
    permission: 'keys.issue',
    status: 201,
    body: input({
      ...keyInputProperties,
      scheme: Type.Optional(oneOf(['x-api-key', 'bearer'])),
      /** Whether the key belongs to the person who issues it, and ends when they leave. */
      personal: Type.Optional(Type.Boolean()),
    }),
    answer: Type.Object({ key: ApiKey, secret: Type.String() }),
    handle: async ({ organization, body, caller, actor }, services) => {
      const asked = {
        ...toKeyInput(body),
        // A missing field takes the organization's default; null means no restriction.
        cidrs: body.cidrs,
        expiresAt: body.expires_at == null ? body.expires_at : momentOf(body.expires_at),
        scheme: body.scheme,
        personalUserId: body.personal === true ? personOf(caller).userId : undefined,
      }
      const { key, secret } = await services.keys.issue(organization.id, asked, actor)
      return { key: toApiKey(key, services.clock.now()), secret: secret.reveal() }
    },
  }),

  'GET /organizations/:organization/keys/:key': route({
    summary: 'A key with its restrictions and state, without its secret',
    permission: 'traffic.see',
    answer: ApiKey,
    handle: async ({ organization, param }, services) =>
      toApiKey(await services.keys.get(organization.id, param('key')), services.clock.now()),
  }),

  'GET /organizations/:organization/keys/:key/callers': route({
    summary:
      "The callers of a key's newest 1,000 recorded calls, and those who used an old secret that is still valid",
    permission: 'traffic.see',
    answer: KeyCallers,
    handle: async ({ organization, param }, services) => {
      const found = await services.keys.callers(organization.id, param('key'))
      const slugs = await services.targets.slugs(organization.id)
      return toKeyCallers(found, (id) => slugs.get(id))
    },
  }),

  'PUT /organizations/:organization/keys/:key': route({
    summary: 'Edit a key; the body replaces all of its editable fields',
    permission: 'keys.issue',
    managed: { section: 'keys', param: 'key' },
    body: Input,
    answer: ApiKey,
    handle: async (request, services) => {
      const { id } = await reach(request, services)
      const { organization, body, actor, expectedVersion } = request
      const edit = { input: toKeyInput(body), actor, expectedVersion }
      const key = await services.keys.edit(organization.id, id, edit)
      return toApiKey(key, services.clock.now())
    },
  }),

  'POST /organizations/:organization/keys/:key/rotate': route({
    summary: 'Create a new secret; the old one stays valid during the overlap',
    permission: 'keys.issue',
    status: 201,
    body: input({ overlap_seconds: Type.Integer({ minimum: 0, maximum: maxOverlapSeconds }) }),
    answer: Type.Object({ key: ApiKey, secret: Type.String(), confirmation: Confirmed }),
    check: async (request, services) => void (await reach(request, services)),
    handle: async ({ organization, body, actor, param }, services) => {
      const overlapMs = body.overlap_seconds * 1000
      const rotated = await services.keys.rotate(organization.id, param('key'), {
        overlapMs,
        actor,
      })
      return {
        ...toKeyAndConfirmation(rotated, services),
        secret: rotated.secret.reveal(),
      }
    },
  }),

  'POST /organizations/:organization/keys/:key/end-old-secret': route({
    summary: 'End the old secret of a rotation immediately',
    permission: 'keys.issue',
    status: 200,
    answer: KeyAndConfirmation,
    handle: async (request, services) => {
      const { id } = await reach(request, services)
      const ended = await services.keys.endOldSecret(request.organization.id, id, request.actor)
      return toKeyAndConfirmation(ended, services)
    },
  }),

  'POST /organizations/:organization/keys/:key/revoke': route({
    summary: 'Revoke a key permanently; responds when every node refuses it',
    permission: 'keys.issue',
    status: 200,
    answer: KeyAndConfirmation,
    handle: async (request, services) => {
      const { id } = await reach(request, services)
      const revoked = await services.keys.revoke(request.organization.id, id, request.actor)
      return toKeyAndConfirmation(revoked, services)
    },
  }),
}

function toKeyAndConfirmation(
  changed: { readonly key: Key; readonly confirmation: Confirmation },
  { clock }: Services,
): Static<typeof KeyAndConfirmation> {
  return {
    key: toApiKey(changed.key, clock.now()),
    confirmation: toConfirmed(changed.confirmation),
  }
}

/**
 * Returns the key in the path; throws `not_found`, or `permission_required` if the caller neither created the key nor
 * has `keys.manage`.
 */
async function reach(request: RouteRequest, services: Services): Promise<Key> {
  const { organization, caller } = request
  const key = await services.keys.get(organization.id, request.param('key'))
  const isOwn = key.createdBy === callerId(caller)
  if (isOwn || isAllowed(organization, 'keys.manage')) return key
  throw new Problem(
    'permission_required',
    'Only keys of your own making: changing those of others takes keys.manage.',
    {
      members: { permission: 'keys.manage', role: organization.role },
    },
  )
}
