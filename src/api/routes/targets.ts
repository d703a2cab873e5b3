import { Problem } from '../../errors.ts'
import { echoHost, Type } from '../../http/index.ts'
import { principalOf } from '../../access/index.ts'
import { checks, tryCall, type Target, type TargetInput } from '../../targets/index.ts'
import { route, type RouteOrganization, type RouteRequest } from '../core/route.ts'
import type { Services } from '../core/services.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { input, oneOf } from '../core/schemas.ts'
import {
  ApiTarget,
  OtherwiseInput,
  RuleInputs,
  targetInputProperties,
  toApiTarget,
  toTargetInput,
  type TargetCounts,
} from './target-schema.ts'

const Slug = Type.String({ minLength: 1, maxLength: 63 })
const EditedTarget = Type.Object({ ...ApiTarget.properties, confirmation: Confirmed })

/** Targets, their rules, and how a call to them would be decided. */
export const targetRoutes = {
  'GET /organizations/:organization/targets': route({
    summary: 'Targets with the number of their recent calls, ordered by slug',
    permission: 'traffic.see',
    answer: Type.Object({ items: Type.Array(ApiTarget) }),
    handle: async ({ organization }, services) => {
      const countsOf = await counts(organization, services)
      const all = await services.targets.list(organization.id)
      return { items: all.map((target) => toApiTarget(target, countsOf(target))) }
    },
  }),

  'POST /organizations/:organization/targets': route({
    summary: 'Add a target, which is an API to protect',
    permission: 'targets.manage',
    status: 201,
    body: input({
      ...targetInputProperties,
      slug: Slug,
      upstream: Type.String({ minLength: 1, maxLength: 2000 }),
    }),
    answer: ApiTarget,
    handle: async ({ organization, body, actor }, services) => {
      const { slug, upstream } = body
      const fields = { ...toTargetInput(body), slug, upstream }
      return await shown(
        organization,
        await services.targets.create(organization.id, fields, actor),
        services,
      )
    },
  }),

  'GET /organizations/:organization/targets/:target': route({
    summary: 'A target with its rules and settings',
    permission: 'traffic.see',
    answer: ApiTarget,
    handle: async ({ organization, param }, services) =>
      await shown(
        organization,
        await services.targets.get(organization.id, param('target')),
        services,
      ),
  }),

  'PATCH /organizations/:organization/targets/:target': route({
    summary:
      'Change a target; moving the upstream to another origin removes the credential unless a new one is given',
    permission: 'targets.manage',
    managed: { section: 'targets', param: 'target' },
    body: input(targetInputProperties),
    answer: EditedTarget,
    handle: async (request, services) => await edit(request, toTargetInput(request.body), services),
  }),

  'PUT /organizations/:organization/targets/:target/rules': route({
    summary:
      'Replace the rules: the first one that matches a call and is not on trial decides; if none does, `otherwise` decides',
    permission: 'targets.manage',
    managed: { section: 'targets', param: 'target' },
    body: input({ rules: RuleInputs, otherwise: OtherwiseInput }),
    answer: EditedTarget,
    handle: async (request, services) => await edit(request, request.body, services),
  }),

  'DELETE /organizations/:organization/targets/:target': route({
    summary: 'Remove a target; calls to it get 404 from now on',
    permission: 'targets.manage',
    managed: { section: 'targets', param: 'target' },
    handle: async ({ organization, param, actor }, services) => {
      await services.targets.remove(organization.id, param('target'), actor)
      return undefined
    },
  }),

  'POST /organizations/:organization/targets/:target/reach': route({
    summary:
      'Request the upstream’s URL once, without a credential; the response’s body is not returned',
    permission: 'targets.manage',
    status: 200,
    answer: Type.Object({ status: Type.Integer(), took_ms: Type.Number() }),
    handle: async ({ organization, param }, services) => {
      const target = await services.targets.get(organization.id, param('target'))
      return await reach(target.upstream, services)
    },
  }),

  'POST /organizations/:organization/targets/:target/try': route({
    summary: 'Run the checks of a call, without sending, counting or recording it',
    permission: 'traffic.see',
    status: 200,
    body: input({
      key_id: Type.Optional(Type.String({ maxLength: 60 })),
      method: Type.String({ minLength: 1, maxLength: 20 }),
      path: Type.String({ minLength: 1, maxLength: 8000 }),
      address: Type.Optional(Type.String({ maxLength: 60 })),
      from_page: Type.Optional(Type.Boolean()),
    }),
    answer: Type.Object(
      {
        allowed: Type.Boolean(),
        status: Type.Integer(),
        code: Type.Optional(Type.String()),
        detail: Type.Optional(Type.String()),
        stopped_at: Type.Optional(oneOf(checks)),
        rule_id: Type.Optional(Type.String()),
        /** The action of the target's `otherwise`, if no rule decided. */
        otherwise: Type.Optional(oneOf(['allow', 'refuse'])),
        would_refuse: Type.Optional(Type.Array(Type.String())),
        checks: Type.Array(
          Type.Object({
            check: oneOf(checks),
            outcome: oneOf(['passed', 'refused', 'not_reached']),
            detail: Type.Optional(Type.String()),
          }),
        ),
      },
      { title: 'Tried' },
    ),
    handle: async ({ organization, param, body, address }, services) => {
      const target = await services.targets.get(organization.id, param('target'))
      const [path = '/'] = body.path.split('?')
      const trial = {
        principal: await principal(organization, body.key_id, services),
        slug: target.slug,
        method: body.method.toUpperCase(),
        path: path.startsWith('/') ? path : `/${path}`,
        address: body.address ?? address,
        fromPage: body.from_page,
      }
      const targets = await services.targetCache.of(organization.id)
      const tried = await tryCall(trial, { targets, limits: services.limits })
      const detail = tried.checks.find(({ outcome }) => outcome === 'refused')?.detail
      return {
        allowed: tried.allowed,
        status: tried.status ?? 200,
        ...(tried.code === undefined ? {} : { code: tried.code }),
        ...(detail === undefined ? {} : { detail }),
        ...(tried.stoppedAt === undefined ? {} : { stopped_at: tried.stoppedAt }),
        ...(tried.ruleId === undefined ? {} : { rule_id: tried.ruleId }),
        ...(tried.otherwise === undefined ? {} : { otherwise: tried.otherwise }),
        ...(tried.trialRuleId === undefined ? {} : { would_refuse: [tried.trialRuleId] }),
        checks: tried.checks.map((one) => ({
          check: one.check,
          outcome: one.outcome,
          ...(one.detail === undefined ? {} : { detail: one.detail }),
        })),
      }
    },
  }),
}

async function edit(request: RouteRequest, fields: TargetInput, services: Services) {
  const { organization, actor, expectedVersion } = request
  const name = request.param('target')
  const edited = await services.targets.edit(
    { organizationId: organization.id, idOrSlug: name, expectedVersion },
    fields,
    actor,
  )
  const target = await shown(organization, edited.target, services)
  return { ...target, confirmation: toConfirmed(edited.confirmation) }
}

async function shown(organization: RouteOrganization, target: Target, services: Services) {
  const countsOf = await counts(organization, services)
  return toApiTarget(target, countsOf(target))
}

/**
 * Reads how many calls an organization's targets and rules had; returns a function that picks the counts of one target.
 */
async function counts(
  { id }: RouteOrganization,
  services: Services,
): Promise<(target: Target) => TargetCounts> {
  const ofTargets = await services.traffic.ofTargets(id)
  const ofRules = await services.traffic.ofRules(id)
  const none = { calls24h: 0, refused24h: 0, recent: { calls: 0, errors: 0 } }
  return (target) => ({
    ...(ofTargets.get(target.id) ?? none),
    ofRule: (rule) => ofRules.get(rule) ?? 0,
  })
}

async function principal(
  organization: RouteOrganization,
  keyId: string | undefined,
  services: Services,
) {
  if (keyId === undefined) return new Problem('credential_missing', 'The call carries no API key.')
  const key = await services.keys.get(organization.id, keyId)
  const { slug, settings } = await services.organizations.get(organization.id)
  return principalOf(key, { slug, settings }, services.clock.now())
}

async function ask(upstream: string, services: Services): Promise<number> {
  if (new URL(upstream).host === echoHost) return await services.echo.ask()
  const { status } = await services.outbound.request({
    url: upstream,
    method: 'GET',
    headers: { 'user-agent': 'intercept', accept: '*/*' },
    deadlineMs: reachMs,
    maxResponseBytes: reachBytes,
  })
  return status
}

const reachMs = 5000
const reachBytes = 1024

async function reach(
  upstream: string,
  services: Services,
): Promise<{ status: number; took_ms: number }> {
  const startedAt = services.clock.monotonic()
  try {
    const status = await ask(upstream, services)
    return { status, took_ms: Math.round(services.clock.monotonic() - startedAt) }
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    throw new Problem('upstream_unreachable', 'The upstream did not answer within 5 seconds.', {
      cause,
    })
  }
}
