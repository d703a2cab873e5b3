import { inLanguage } from '../language.ts'
import { many } from '../plural.ts'

const englishMembersWords = {
  agentOn: (browser: string, system: string) => `${browser} on ${system}`,
  title: 'Members',
  lead: 'People of this organization, and what they may do.',
  what: 'members',
  tabs: { members: 'Members', invitations: 'Invitations', roles: 'Roles' },
  invite: 'Invite',
  role: 'Role',
  columns: {
    name: 'Name',
    email: 'E-mail',
    role: 'Role',
    joined: 'Joined',
    seen: 'Last seen',
    state: 'State',
    expires: 'Valid until',
    invited: 'Invited',
  },
  managed: 'directory',
  deactivated: 'Deactivated',
  active: 'Active',
  alone: 'You are alone here',
  aloneText: 'Invite somebody. Two owners are safer than one.',
  inviteDialog: {
    title: 'Invite somebody',
    email: 'E-mail',
    emailHint: 'They need a sign-in whose provider has verified this address.',
    roleHints: {
      viewer: 'sees targets, keys, calls and deliveries',
      developer: 'and issues own keys, replays deliveries',
      admin: 'and manages targets, webhooks, members, SSO; sees the audit log',
      owner: 'and decides about owners, deletes the organization',
    },
  },
  noWayIn: 'They could not sign in yet',
  noWayInText:
    'This server has no GitHub or Google sign-in, and the organization has no connection to a provider of its own. Connect one under SSO and SCIM first, or let the operator set up a sign-in; until then nobody can accept an invitation.',
  linkTitle: 'Give them this link',
  linkLead: (mailed: boolean) =>
    mailed
      ? 'It was also sent by mail. The link is shown only now.'
      : 'No mail server is set up, so send it yourself. The link is shown only now.',
  linkName: 'link',
  noInvitations: 'No invitations',
  noInvitationsText:
    'An invitation is a link for one e-mail address; it makes a member with the role that you choose.',
  invitationStates: {
    open: 'Open',
    accepted: 'Accepted',
    revoked: 'Withdrawn',
    expired: 'Expired',
  },
  withdraw: 'Withdraw',
  withdrawn: 'Invitation withdrawn',
  invitations: 'Invitations',
  rolesLead: 'What each role may do. The last owner can’t be removed or demoted.',
  may: 'May',
  permissions: [
    ['See targets, keys (hints), calls, deliveries', ['owner', 'admin', 'developer', 'viewer']],
    ['Issue, rotate and revoke keys; replay deliveries', ['owner', 'admin', 'developer']],
    ['Targets, rules, webhook endpoints and secret', ['owner', 'admin']],
    ['Members, invitations, sessions of members, audit log', ['owner', 'admin']],
    ['SSO, domains, SCIM tokens, roles of groups', ['owner', 'admin']],
    ['Roles of owners, delete the organization', ['owner']],
  ] as const,
  developerKeys: 'own keys',
  yes: 'yes',
  no: 'no',

  member: {
    back: 'Members',
    facts: 'Facts',
    id: 'Member id',
    source: 'Came by',
    sources: {
      invitation: 'invitation',
      directory: 'directory',
      sso: 'company sign-in',
      setup: 'set-up',
      operator: 'command line',
      created: 'made the organization',
    } as Readonly<Record<string, string | undefined>>,
    role: 'Role',
    roleHint: 'A new role ends the person’s sessions: they sign in again and have it.',
    ownRole: 'This is you.',
    saveRole: 'Change role',
    roleChanged: 'Role changed',
    sessions: 'Sessions',
    sessionsLead: 'Where this person is signed in.',
    noSessions: 'Not signed in anywhere.',
    endAll: 'End all sessions',
    keys: 'Show keys of this person',
    deactivate: 'Deactivate',
    reactivate: 'Reactivate',
    remove: 'Remove member',
    deactivateTitle: (name: string) => `Deactivate ${name}?`,
    deactivateText:
      'All sessions end; personal keys and access tokens are suspended, at once and on every node. Reactivating restores exactly that.',
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText:
      'All sessions end; personal keys and the access tokens they issued are revoked for good. Other keys they issued stay the organization’s.',
    deactivated: 'Member deactivated',
    reactivated: 'Member reactivated',
    removed: (sessions: number, keys: number) =>
      `${many(sessions, 'session', 'sessions')} ended, ${many(keys, 'personal key', 'personal keys')} revoked`,
    removedTitle: 'Member removed',
    directoryNote:
      'The directory keeps this person in step: name, e-mail and deactivation come from there. A role given here holds until a group with a role takes them in or out.',
    history: 'Show in the audit log',
  },
  session: {
    thisDevice: 'This device',
    end: 'End session',
    ended: (sessions: number) => `${many(sessions, 'session', 'sessions')} ended`,
    proof: (nodes: number, ms: string) =>
      nodes === 1
        ? `Refused everywhere within ${ms}.`
        : `Refused by all ${nodes} nodes within ${ms}.`,
    from: (address: string) => `from ${address}`,
    unknownAddress: 'an unknown address',
    by: (provider: string) => `signed in with ${provider}`,
    providers: {
      github: 'GitHub',
      google: 'Google',
      sso: 'company sign-in',
      setup: 'the setup link',
      sign_in_link: 'a sign-in link',
    } as Readonly<Record<string, string | undefined>>,
    seen: 'last seen',
    until: 'until',
    unknownAgent: 'Unknown program',
  },
  you: {
    title: 'You',
    lead: 'Your name, ways to sign in, and sessions.',
    profile: 'Profile',
    name: 'Name',
    email: 'E-mail',
    emailHint: 'Comes from your sign-in provider.',
    saved: 'Name changed',
    identities: 'Ways to sign in',
    identitiesLead:
      'Accounts at providers that lead here. They are matched by the provider’s id, never by e-mail.',
    noIdentities: 'None yet: you came with a link. Add one before this session ends.',
    add: (provider: string) => `Add ${provider}`,
    removeIdentity: 'Remove',
    removeIdentityTitle: 'Remove this way to sign in?',
    removeIdentityText: 'All your sessions end, this one too. Sign in again with another way.',
    sessions: 'Sessions',
    endOthers: 'End other sessions',
    theme: 'Theme',
    appearance: 'Appearance and keyboard',
  },
}

export const membersWords = inLanguage('membersWords', englishMembersWords)
