import {
  hasSessionCookie,
  isFreshSignIn,
  readSessionCookie,
  type Permission,
  type SignedIn,
  type TokenPrincipal,
} from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import type { Actor } from '../../store/index.ts'
import { actorOf, isAllowed, personOf, type Caller } from './caller.ts'
import type { AnyRoute, RouteOrganization } from './route.ts'
import type { Services } from './services.ts'
import { readBearer } from './bearer.ts'

/** The caller of a route, and the organization in its path. */
export interface Admitted {
  readonly caller: Caller | undefined
  readonly organization: RouteOrganization | undefined
}

/** A request's credentials, its sender and the organization in its path. */
export interface Presented {
  readonly cookieHeader: string | undefined
  /** Every Authorization header, unmodified. */
  readonly authorization: readonly string[]
  readonly address: string
  readonly agent: string | undefined
  /** The organization in the path, as a slug or an id. */
  readonly organization: string | undefined
  readonly requestId: string
}

/** Authenticates and authorizes the caller of a route, or throws a problem that says why not. */
export async function admit(
  route: AnyRoute,
  presented: Presented,
  services: Services,
): Promise<Admitted> {
  const { permission } = route
  if (permission === 'anyone') return { caller: undefined, organization: undefined }
  const caller = await identify(presented, services)
  if (permission === 'signed-in') personOf(caller)
  if (permission === 'operator') requireOperator(caller)
  const organization =
    presented.organization === undefined || permission === 'operator'
      ? undefined
      : await organizationOf(caller, presented.organization, services)
  if (isPermission(permission)) {
    if (!organization) throw new Error('a route with a permission has no organization in its path')
    if (!isAllowed(organization, permission)) {
      throw denied(permission, organization, { actor: actorOf(caller, presented), services })
    }
  }
  // A token has no sign-in that could be too old.
  if (route.freshSignIn && caller.kind === 'person') checkFresh(caller.person, services)
  return { caller, organization }
}

async function identify(presented: Presented, services: Services): Promise<Caller> {
  const secret = readBearer(presented.authorization)
  if (secret !== undefined) {
    if (hasSessionCookie(presented.cookieHeader)) {
      throw new Problem(
        'credential_ambiguous',
        'The request carries a session and an access token. Send one of them.',
      )
    }
    return { kind: 'token', token: await identifyToken(secret, presented, services) }
  }
  const cookie = readSessionCookie(presented.cookieHeader)
  const person = await services.sessions.identify(cookie, { address: presented.address })
  return { kind: 'person', person }
}

/**
 * Authenticates an access token. A source that sent too many wrong tokens is refused, usually before any database query
 * (docs/decisions/014).
 */
async function identifyToken(
  secret: string,
  presented: Presented,
  services: Services,
): Promise<TokenPrincipal> {
  const { address } = presented
  refuseAfter(services.findings.beforeLookUp(address))
  try {
    return await services.accessTokens.identify(secret, presented)
  } catch (error) {
    if (error instanceof Problem && error.status === 401)
      refuseAfter(await services.findings.failed(address))
    throw error
  }
}

function refuseAfter(seconds: number | undefined): void {
  if (seconds === undefined) return
  throw new Problem('rate_limited', 'Too many wrong access tokens came from your address.', {
    headers: { 'Retry-After': String(seconds) },
  })
}

function isPermission(access: AnyRoute['permission']): access is Permission {
  return access !== 'anyone' && access !== 'signed-in' && access !== 'operator'
}

function requireOperator(caller: Caller): void {
  if (caller.kind === 'token' && caller.token.organization === undefined) return
  throw new Problem(
    'permission_required',
    "This belongs to the operator: it takes an operator's access token, made on the command line.",
    { members: { permission: 'operator' } },
  )
}

async function organizationOf(
  caller: Caller,
  slugOrId: string,
  services: Services,
): Promise<RouteOrganization> {
  const found =
    caller.kind === 'person'
      ? await membershipOf(caller.person, slugOrId, services)
      : ofToken(caller.token, slugOrId)
  // The refusal is the same whether the organization does not exist or the caller does not belong to it, so outsiders
  // do not learn which names exist.
  if (!found) throw new Problem('not_found', 'You are in no organization of this name.')
  return found
}

async function membershipOf(person: SignedIn, slugOrId: string, services: Services) {
  const found = await services.members.membershipOf(person, slugOrId)
  return found && { ...found, permissions: [] }
}

function ofToken(
  { organization, permissions }: Extract<Caller, { kind: 'token' }>['token'],
  slugOrId: string,
): RouteOrganization | undefined {
  if (organization === undefined) return undefined
  const { id, slug } = organization
  if (slugOrId !== id && slugOrId !== slug) return undefined
  return { id, slug, role: undefined, permissions }
}

/** Records a refused permission in the organization's audit log; ignores other errors. */
export function noteDenial(
  error: unknown,
  who: { readonly organization: RouteOrganization | undefined; readonly actor: Actor },
  services: Pick<Services, 'denials'>,
): void {
  const { organization, actor } = who
  if (!(error instanceof Problem) || error.code !== 'permission_required') return
  const { permission, role } = error.members ?? {}
  if (organization === undefined || typeof permission !== 'string') return
  const had = typeof role === 'string' ? role : (organization.role ?? 'token')
  services.denials.note(organization.id, actor, { permission, role: had })
}

/** Returns the refusal of something that a role or token does not permit, and records it in the audit log. */
function denied(
  permission: Permission,
  organization: RouteOrganization,
  who: { readonly actor: Actor; readonly services: Services },
): Problem {
  const { role } = organization
  const what = role === undefined ? 'the access token' : `the role ${role}`
  const problem = new Problem(
    'permission_required',
    `This needs the permission ${permission}; ${what} does not include it.`,
    { members: { permission, ...(role === undefined ? {} : { role }) } },
  )
  noteDenial(problem, { organization, actor: who.actor }, who.services)
  return problem
}

/** Requires a sign-in within the last hour for a sensitive request. */
export function checkFresh(person: SignedIn, services: Pick<Services, 'clock'>): void {
  if (isFreshSignIn(person, services.clock.now())) return
  throw new Problem(
    'sign_in_too_old',
    'You signed in more than an hour ago. Sign in again to do this.',
  )
}

/** Like `checkFresh`, for any caller: tokens always pass, because they have no sign-in. */
export function checkFreshCaller(caller: Caller, services: Pick<Services, 'clock'>): void {
  if (caller.kind === 'person') checkFresh(caller.person, services)
}
