import {
  isFreshSignIn,
  permissionsOf,
  requireOwnSignIn,
  sessionEndCookies,
} from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import { Type, type Static } from '../../http/index.ts'
import type { IdentityRecord } from '../../store/index.ts'
import { OwnInvitation, toOwnInvitation } from './invitations.ts'
import { Answered, route } from '../core/route.ts'
import { Session, toSession } from './sessions.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { input, nullable, Role, Time, time, timeOrNull } from '../core/schemas.ts'

const Identity = Type.Object(
  {
    id: Type.String(),
    provider: Type.String(),
    issuer: Type.String(),
    subject: Type.String(),
    email: nullable(Type.String()),
    email_verified: Type.Boolean(),
    name: nullable(Type.String()),
    created_at: Time,
    last_used_at: nullable(Time),
  },
  { title: 'Identity' },
)

const Me = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: nullable(Type.String()),
    version: Type.Integer(),
    session: Type.Object({
      id: Type.String(),
      provider: Type.String(),
      signed_in_at: Time,
      expires_at: Time,
      /** Whether sensitive changes are possible without signing in again. */
      fresh: Type.Boolean(),
    }),
    identities: Type.Array(Identity),
    organizations: Type.Array(
      Type.Object({
        id: Type.String(),
        slug: Type.String(),
        name: Type.String(),
        plan: Type.String(),
        role: Role,
        permissions: Type.Array(Type.String()),
        /** Whether this session cannot reach the organization until the person signs in through the company. */
        sso_required: Type.Boolean(),
      }),
    ),
    invitations: Type.Array(OwnInvitation),
    providers: Type.Array(Type.String()),
  },
  { title: 'Me' },
)

/** The caller's own account, sessions and memberships. */
export const meRoutes = {
  'GET /me': route({
    summary: 'Who is signed in, with organizations, identities and open invitations',
    permission: 'signed-in',
    answer: Me,
    handle: async ({ person }, services) => {
      const user = await services.people.get(person.userId)
      const [identities, joined, invited] = await Promise.all([
        services.people.identitiesOf(person),
        services.members.organizationsOf(person),
        services.invitations.openFor(person),
      ])
      return {
        id: user.id,
        name: user.name,
        email: user.email ?? null,
        version: user.version,
        session: {
          id: person.sessionId,
          provider: person.provider,
          signed_in_at: time(person.signedInAt),
          expires_at: time(person.expiresAt),
          fresh: isFreshSignIn(person, services.clock.now()),
        },
        identities: identities.map(toIdentity),
        organizations: joined.map(({ organization, role, ssoRequired }) => ({
          sso_required: ssoRequired,
          id: organization.id,
          slug: organization.slug,
          name: organization.name,
          plan: organization.plan,
          role,
          permissions: permissionsOf(role),
        })),
        invitations: invited.map(toOwnInvitation),
        providers: [...services.providers],
      }
    },
  }),

  'PATCH /me': route({
    summary: 'Change your own name',
    permission: 'signed-in',
    body: input({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    answer: Type.Object({ id: Type.String(), name: Type.String(), version: Type.Integer() }),
    handle: async ({ person, body, actor, expectedVersion }, services) => {
      const fields = { name: body.name, expectedVersion }
      const user = await services.people.rename(person, fields, actor)
      return { id: user.id, name: user.name, version: user.version }
    },
  }),

  'GET /me/sessions': route({
    summary: "The caller's active sessions, with the current one marked",
    permission: 'signed-in',
    answer: Type.Object({ items: Type.Array(Session) }),
    handle: async ({ person }, services) => {
      const { connectionId } = await services.people.ownSessionsOf(person)
      const living = await services.sessions.list(person.userId)
      const own = living.filter(
        (one) => connectionId === undefined || one.connectionId === connectionId,
      )
      return { items: own.map((one) => toSession(one, { kind: 'person', person })) }
    },
  }),

  'DELETE /me/sessions': route({
    summary: "End the caller's other sessions, as far as the current session has the right to",
    permission: 'signed-in',
    status: 200,
    answer: Type.Object({ ended: Type.Integer(), confirmation: Confirmed }),
    handle: async ({ person, actor }, services) => {
      const { userId, sessionId: except } = person
      const which = { ...(await services.people.ownSessionsOf(person)), except }
      const of = { userId, which }
      const { ended, confirmation } = await services.members.endOwnSessions(
        of,
        'ended_by_owner',
        actor,
      )
      return { ended: ended.length, confirmation: toConfirmed(confirmation) }
    },
  }),

  'DELETE /me/sessions/:session': route({
    summary: 'End one session of the caller',
    permission: 'signed-in',
    status: 200,
    answer: Type.Object({ ended: Type.Integer(), confirmation: Confirmed }),
    handle: async ({ person, param, actor }, services) => {
      const which = { ...(await services.people.ownSessionsOf(person)), id: param('session') }
      const of = { userId: person.userId, which }
      const { ended, confirmation } = await services.members.endOwnSessions(
        of,
        'ended_by_owner',
        actor,
      )
      if (ended.length === 0) {
        throw new Problem('not_found', 'You have no such active session.')
      }
      const answer = { ended: ended.length, confirmation: toConfirmed(confirmation) }
      const own = ended.some(({ id }) => id === person.sessionId)
      return own ? new Answered(answer, { 'Set-Cookie': [...sessionEndCookies] }) : answer
    },
  }),

  'POST /me/identities/look': route({
    summary: 'Show what linking a proven identity would add, without linking it',
    permission: 'signed-in',
    status: 200,
    body: input({ proof: Type.String({ minLength: 20, maxLength: 4000 }) }),
    answer: Type.Object({
      provider: Type.String(),
      issuer: Type.String(),
      subject: Type.String(),
      email: nullable(Type.String()),
      name: nullable(Type.String()),
    }),
    handle: async ({ person, body }, services) => {
      const { provider, issuer, subject, email, name } = services.people.readProof(
        body.proof,
        person,
      )
      return { provider, issuer, subject, email: email ?? null, name: name ?? null }
    },
  }),

  'POST /me/identities': route({
    summary: 'Link an identity that was just proven in this session',
    permission: 'signed-in',
    freshSignIn: true,
    status: 201,
    body: input({ proof: Type.String({ minLength: 20, maxLength: 4000 }) }),
    answer: Identity,
    check: async ({ person }) => requireOwnSignIn(person),
    handle: async ({ person, body, actor }, services) =>
      toIdentity(await services.people.addIdentity(body.proof, person, actor)),
  }),

  'DELETE /me/identities/:identity': route({
    summary: "Remove one of the caller's identities; all of the caller's sessions end",
    permission: 'signed-in',
    freshSignIn: true,
    handle: async ({ person, param, actor }, services) => {
      requireOwnSignIn(person)
      await services.people.removeIdentity(person.userId, param('identity'), actor)
      return undefined
    },
  }),

  'POST /me/invitations/:invitation/accept': route({
    summary: "Join through an invitation for one of the caller's verified addresses",
    permission: 'signed-in',
    status: 200,
    answer: Type.Object({ organization_id: Type.String(), role: Role }),
    handle: async ({ person, param, actor }, services) => {
      const joined = await services.invitations.acceptOwn(param('invitation'), person, actor)
      return { organization_id: joined.organizationId, role: joined.role }
    },
  }),
}

function toIdentity(identity: IdentityRecord): Static<typeof Identity> {
  return {
    id: identity.id,
    provider: identity.provider,
    issuer: identity.issuer,
    subject: identity.subject,
    email: identity.email ?? null,
    email_verified: identity.emailVerified,
    name: identity.name ?? null,
    created_at: time(identity.createdAt),
    last_used_at: timeOrNull(identity.lastUsedAt),
  }
}
