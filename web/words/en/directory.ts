import { inLanguage } from '../language.ts'
import { many } from '../plural.ts'

const englishDirectoryWords = {
  title: 'Directory',
  lead: 'Your provider’s directory adds, changes and deactivates people here (SCIM 2.0). Whoever it deactivates loses every session at once.',
  base: 'Base address',
  baseHint: 'Also called tenant URL or SCIM connector base URL.',
  states: { off: 'Off', waits: 'Waiting for the first request', on: 'On' },
  last: 'Last request',
  users: 'Users',
  groups: 'Groups',
  inStep: {
    label: 'In step',
    bar: (inStep: number, different: number, notSent: number) =>
      `${many(inStep, 'member', 'members')} as the directory says, ${different} otherwise, ${notSent} not from the directory`,
    inStep: (count: number) => `${count} as the directory says`,
    different: (count: number) => `${count} otherwise`,
    notSent: (count: number) => `${count} not from the directory`,
  },
  tokens: {
    title: 'Tokens',
    lead: (most: number) =>
      `The directory proves itself with one. Up to ${most} can be active, so that one can replace another.`,
    issue: 'Issue token',
    issueTitle: 'Issue a SCIM token',
    name: 'Name',
    nameHint: 'Which directory uses it, such as Okta production.',
    shownTitle: 'Copy the token now',
    shownLead:
      'This is the only time Intercept can show it: only a digest is kept. Lost it? Issue another and revoke this one.',
    secretName: 'token',
    emptyTitle: 'No tokens yet',
    emptyText: 'Issue one and paste it at your provider, together with the base address.',
    columns: { name: 'Name', hint: 'Token', used: 'Last used', created: 'Issued', state: 'State' },
    active: 'Active',
    issuerLeft: 'Issuer left',
    revoked: 'Revoked',
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke ${name}?`,
    revokeText:
      'The directory is refused with its next request. People here stay as they are. This can’t be undone.',
    revokeDone: 'Token revoked',
    from: (address: string) => `from ${address}`,
  },
  guides: 'At your provider',
  other: 'Another directory',
  requests: {
    title: 'Last requests',
    lead: 'What the directory asked, what the answer was, and why where it was refused. Of tokens that are revoked, one request a minute is kept.',
    ofPerson: 'Last requests about this person',
    show: 'Which requests',
    shown: { all: 'All', refused: 'Refused' },
    noneRefused: 'Nothing was refused',
    nonePerson: 'None of the last thousand requests is about this person',
    passedOver: (names: readonly string[]) => `Passed over: ${names.join(', ')}`,
    ignored: 'Passed over',
    reason: 'Why',
    address: 'From',
    token: 'Token',
    body: 'Body, without secrets',
    noBody: 'It came without a body.',
    emptyTitle: 'Nothing has come yet',
    emptyText: 'Use “Test connection” at your provider: its request appears here within seconds.',
    columns: { time: 'Time', request: 'Request', status: 'Answer', took: 'Took', agent: 'Agent' },
  },
  notices: {
    silent: (hours: number) => `Nothing has come for ${many(hours, 'hour', 'hours')}`,
    silentText:
      'Providers come every hour or more often. Look at the provider’s own log: whether it is switched on, whether the token is the active one, and whether it reaches the base address.',
    keptOwner: (name: string) => `The directory deactivated ${name}, the only owner`,
    keptOwnerText:
      'Sessions and personal keys have ended, but the last owner stays a member: nobody else could administer the organization. Make somebody else an owner, then deactivate this person:',
    duplicates: 'Identifiers that several users have',
    duplicatesLead:
      'A sign-in by one of these finds nobody. Give each user its own at the provider.',
    kinds: { external_id: 'Id at the provider', address: 'Address' },
  },
  person: {
    title: 'As the directory keeps this person',
    lead: 'Every attribute that is stored, as SCIM answers it.',
    attributes: 'Stored attributes',
    version: 'Version',
    created: 'First sent',
    changed: 'Changed',
    history: 'History in the audit log',
  },
  providers: { jumpcloud: 'JumpCloud', onelogin: 'OneLogin', pingone: 'PingOne' },
  people: {
    usersTitle: 'Users in step',
    usersEmpty: 'The directory has sent nobody yet.',
    groupsTitle: 'Groups in step',
    groupsEmpty: 'The directory has sent no groups yet.',
    columns: {
      name: 'Name',
      userName: 'User name',
      external: 'Id at the provider',
      groups: 'Groups',
      state: 'State',
      changed: 'Changed',
      members: 'Members',
      role: 'Role',
    },
    active: 'Active',
    inactive: 'Deactivated',
    noRole: 'none',
  },
  roles: {
    lead: 'A group gives its members a role here; who is in several gets the highest. Owners keep theirs: no group gives or takes it.',
    emptyTitle: 'No groups yet',
    emptyText:
      'Groups appear as soon as the directory sends them. Until then members by single sign-on are viewers.',
    toDirectory: 'Go to the directory',
    choose: (group: string) => `Role of ${group}`,
    none: 'No role of its own',
    previewTitle: (group: string) => `Change the role of ${group}?`,
    preview: (people: number) =>
      people === 0
        ? 'Nobody’s role changes by this now.'
        : `This changes ${many(people, 'person', 'people')}:`,
    change: (before: string, after: string) => `${before} → ${after}`,
    andMore: (count: number) => `and ${many(count, 'more person', 'more people')}`,
    sessions: 'Whoever’s role changes is signed out and signs in again.',
    action: 'Change role',
    done: (people: number) => `Role changed for ${many(people, 'person', 'people')}`,
    sign: 'Groups of the sign-in',
    signLead:
      'Without a directory, groups come with each sign-in in a claim. Name them as the provider sends them.',
    group: 'Group',
    role: 'Role',
    add: 'Add group',
    remove: 'Remove',
    save: 'Save',
    saved: 'Groups saved',
  },
}

export const directoryWords = inLanguage('directoryWords', englishDirectoryWords)
