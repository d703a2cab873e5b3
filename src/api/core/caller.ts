import {
  may,
  type Permission,
  type Role,
  type SignedIn,
  type TokenPrincipal,
} from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import type { Actor } from '../../store/index.ts'

/** The caller of a route: a person with a session, or a program with an access token. */
export type Caller =
  | { readonly kind: 'person'; readonly person: SignedIn }
  | { readonly kind: 'token'; readonly token: TokenPrincipal }

/** Returns the id of the user or token to which idempotency keys and stored responses belong. */
export function callerId(caller: Caller): string {
  return caller.kind === 'person' ? caller.person.userId : caller.token.tokenId
}

/** Returns the actor to name in audit entries and events. */
export function actorOf(
  caller: Caller | undefined,
  from: { readonly address: string; readonly requestId: string },
): Actor {
  if (caller === undefined) return { kind: 'system', ...from }
  if (caller.kind === 'token') {
    const { tokenId: id, name } = caller.token
    return { kind: 'token', id, name, ...from }
  }
  const { userId: id, name } = caller.person
  return { kind: 'user', id, name, ...from }
}

/** Returns the calling person; throws `person_required` (403) for a program. */
export function personOf(caller: Caller): SignedIn {
  if (caller.kind === 'person') return caller.person
  throw new Problem(
    'person_required',
    'This belongs to a person: an access token has no account, sessions or invitations of its own.',
  )
}

/** Whether a caller has a permission in the organization of the route's path. */
export function isAllowed(
  organization: { readonly role: Role | undefined; readonly permissions: readonly Permission[] },
  permission: Permission,
): boolean {
  return organization.role === undefined
    ? organization.permissions.includes(permission)
    : may(organization.role, permission)
}
