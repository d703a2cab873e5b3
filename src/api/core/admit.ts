import { may, readSessionCookie, type Permission, type SignedIn } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import type { Actor } from '../../store/index.ts'
import type { AnyRoute, RouteOrganization } from './route.ts'
import type { Rooms } from './services.ts'

const freshForMs = 3_600_000

/** Who calls a route, and in which organization. */
export interface Admitted {
  readonly person: SignedIn | undefined
  readonly organization: RouteOrganization | undefined
}

/**
 * Lets a caller in, or refuses: `session_missing`, `session_invalid`, `session_ended` (401), `not_found` for an
 * organization that is not theirs (404), `permission_required`, `sign_in_too_old`, `sso_required` (403).
 */
export async function admit(
  route: AnyRoute,
  caller: {
    readonly cookieHeader: string | undefined
    readonly address: string
    readonly organization: string | undefined
    readonly requestId: string
  },
  rooms: Rooms,
): Promise<Admitted> {
  if (route.permission === 'anyone') return { person: undefined, organization: undefined }
  const token = readSessionCookie(caller.cookieHeader)
  const person = await rooms.sessions.identify(token, { address: caller.address })
  const organization =
    caller.organization === undefined
      ? undefined
      : await organizationOf(person, caller.organization, rooms)
  if (route.permission !== 'signed-in') {
    // A permission means nothing without the organization that grants it.
    if (!organization) throw new Error('a route with a permission has no organization in its path')
    if (!may(organization.role, route.permission)) {
      throw denied(route.permission, organization, { person, caller, rooms })
    }
  }
  if (route.freshSignIn) checkFresh(person, rooms)
  return { person, organization }
}

async function organizationOf(
  person: SignedIn,
  slugOrId: string,
  rooms: Rooms,
): Promise<RouteOrganization> {
  const found = await rooms.members.membershipOf(person, slugOrId)
  // Another organization's name and a name that nobody has are the same to a stranger (T2).
  if (!found) throw new Problem('not_found', 'You are in no organization of this name.')
  return found
}

/** Puts what a role does not include into the audit log, wherever that turned out; other errors are none of it. */
export function noteDenial(
  error: unknown,
  who: { readonly organization: RouteOrganization | undefined; readonly actor: Actor },
  rooms: Pick<Rooms, 'denials'>,
): void {
  const { organization, actor } = who
  if (!(error instanceof Problem) || error.code !== 'permission_required') return
  const { permission, role } = error.members ?? {}
  if (organization === undefined || typeof permission !== 'string') return
  const had = typeof role === 'string' ? role : organization.role
  rooms.denials.note(organization.id, actor, { permission, role: had })
}

/** The refusal of what a role does not include; an administrator finds it in the audit log. */
function denied(
  permission: Permission,
  organization: RouteOrganization,
  who: { person: SignedIn; caller: { address: string; requestId: string }; rooms: Rooms },
): Problem {
  const { role } = organization
  const { userId: id, name } = who.person
  const { address, requestId } = who.caller
  const problem = new Problem(
    'permission_required',
    `This needs the permission ${permission}; the role ${role} does not include it.`,
    { members: { permission, role } },
  )
  const actor = { kind: 'user', id, name, address, requestId } as const
  noteDenial(problem, { organization, actor }, who.rooms)
  return problem
}

/** Holds a sensitive request to a sign-in of the last hour. */
export function checkFresh(person: SignedIn, rooms: Pick<Rooms, 'clock'>): void {
  if (rooms.clock.now() - person.signedInAt < freshForMs) return
  throw new Problem(
    'sign_in_too_old',
    'You signed in more than an hour ago. Sign in again to do this.',
  )
}
