/**
 * A member of an event's `data`. The type parameters say which values may be published under the member's name, and
 * whether it may be missing.
 */
export interface DataField<Value = unknown, Required extends boolean = boolean> {
  readonly schema: Readonly<Record<string, unknown>>
  readonly sample: Value
  readonly description: string
  /** Whether every event of the type contains this member. */
  readonly required: Required
}

export type DataTable = Readonly<Record<string, DataField>>

const ulid = '01kfxq3v5w2m8r4t6y0z9abcde'

function id<const Prefix extends string>(
  prefix: Prefix,
  description: string,
): DataField<`${Prefix}_${string}`, true> {
  const schema = { type: 'string', pattern: `^${prefix}_` }
  return { schema, sample: `${prefix}_${ulid}`, description, required: true }
}

function text(sample: string, description: string): DataField<string, true> {
  return { schema: { type: 'string' }, sample, description, required: true }
}

function number(sample: number, description: string): DataField<number, true> {
  return { schema: { type: 'integer' }, sample, description, required: true }
}

function boolean(sample: boolean, description: string): DataField<boolean, true> {
  return { schema: { type: 'boolean' }, sample, description, required: true }
}

function texts(sample: string[], description: string): DataField<string[], true> {
  const schema = { type: 'array', items: { type: 'string' } }
  return { schema, sample, description, required: true }
}

function time(description: string): DataField<string | null, true> {
  const schema = { type: ['string', 'null'], format: 'date-time' }
  return { schema, sample: '2026-11-21T09:30:00.000Z', description, required: true }
}

function nullable<Value, Required extends boolean>(
  field: DataField<Value, Required>,
): DataField<Value | null, Required> {
  const { type } = field.schema
  return { ...field, schema: { ...field.schema, type: [type, 'null'].flat() } }
}

function maybe<Value>(field: DataField<Value>): DataField<Value, false> {
  return { ...field, required: false }
}

const key = { key_id: id('key', 'The key.'), name: text('Billing worker', 'Its name.') }
const hint = text('svc_live_k3x9Qa2P_…x7Qa', 'What may be shown of the secret.')
const member = {
  membership_id: id('mem', 'The membership.'),
  user_id: id('usr', 'The person.'),
  name: nullable(text('Ada Lovelace', 'Their name.')),
  email: nullable(text('ada@example.com', 'Their e-mail address.')),
}
const leaving = {
  ...member,
  sessions: maybe(number(2, 'Sessions that ended.')),
  keys: maybe(number(1, 'Personal keys that were suspended or revoked.')),
}
const role = text('developer', 'owner, admin, developer or viewer.')
const target = {
  target_id: id('tgt', 'The target.'),
  slug: text('billing', 'Its slug.'),
}
const quota = {
  subject: text('key', 'Whose quota it is: key or target.'),
  key_id: maybe(id('key', 'The key whose quota it is.')),
  target_id: maybe(id('tgt', 'The target whose quota it is.')),
  calls: number(100_000, 'Calls that the period allows.'),
  period: text('month', 'day or month (UTC).'),
  used: number(80_000, 'Calls so far.'),
  period_started_at: time('When the period began.'),
}
const domain = { domain_id: id('dom', 'The domain.'), name: text('example.com', 'Its name.') }
const token = {
  token_id: id('tok', 'The SCIM token.'),
  name: text('Okta', 'Its name.'),
  hint: text('svc_scim_k3x9Qa2P_…x7Qa', 'What may be shown of the secret.'),
}
const accessToken = {
  token_id: id('tok', 'The access token.'),
  name: text('terraform', 'Its name.'),
  hint: text('svc_admin_k3x9Qa2P_…x7Qa', 'What may be shown of the secret.'),
  expires_at: time('When it ends by itself; null if it does not.'),
}
const directoryUser = {
  user_id: id('usr', 'The person.'),
  user_name: text('ada@example.com', 'What the directory calls them.'),
  id: maybe(text(`usr_${ulid}`, 'The user at the SCIM address.')),
  active: maybe(boolean(true, 'Whether the directory lets them in.')),
}
const endpoint = {
  endpoint_id: id('ep', 'The endpoint.'),
  url: text('https://receiver.example/hooks', 'Its address.'),
}

/** Every event type: when it happens and what its `data` contains, which is never a secret. */
export const dataOf = {
  'api_key.issued': { description: 'An API key was issued.', data: key },
  'api_key.rotated': {
    description: 'A key has a new secret; the old one stays valid for the chosen overlap.',
    data: { ...key, hint, old_secret_valid_until: time('When the old secret ends.') },
  },
  'api_key.revoked': { description: 'A key was revoked and is refused everywhere.', data: key },
  'api_key.expired': { description: 'A key has reached its end.', data: key },
  'api_key.exposed': {
    description: 'A key arrived from a browser page: it is in client-side code.',
    data: {
      key_id: key.key_id,
      address: text('203.0.113.7', 'Where the page was opened.'),
      agent: nullable(text('Mozilla/5.0', 'With what.')),
    },
  },
  'api_key.leaked': {
    description: 'Somebody who held the secret reported it; the key was revoked.',
    data: { ...key, hint: maybe(hint) },
  },
  'api_key.old_secret_silent': {
    description: 'Nobody has used the old secret of a rotated key for a while: it can be ended.',
    data: {
      key_id: key.key_id,
      hint,
      last_used_at: time('When the old secret was last used.'),
      valid_until: time('When it ends by itself.'),
    },
  },
  'access_token.issued': {
    description: 'An access token for a program that administers was issued.',
    data: accessToken,
  },
  'access_token.revoked': {
    description: 'An access token was revoked and is refused everywhere.',
    data: accessToken,
  },
  'access_token.expiring': {
    description: 'An access token ends within two weeks.',
    data: accessToken,
  },
  'configuration.drifted': {
    description: 'Something that a configuration file manages was changed by somebody else.',
    data: {
      label: text('acme.yaml', 'The file.'),
      kind: text('target', 'What kind of thing it is.'),
      name: text('payments', 'What the file calls it.'),
      subject_id: nullable(text(`tgt_${ulid}`, 'The thing; null for one that is awaited.')),
      fields: texts(['rules'], 'What differs from the file; all: the thing is gone.'),
    },
  },
  'call.refused': {
    description: 'Calls of a key were refused; one event sums up those of a key, check and code.',
    data: {
      key_id: key.key_id,
      target_id: nullable(id('tgt', 'The target; null if none was reached.')),
      code: nullable(text('rule_denied', 'Why: the code of the problem.')),
      check: nullable(text('rules', 'The check that refused.')),
      rule_id: nullable(id('rul', 'The rule, if one refused.')),
      count: number(12, 'How many calls.'),
      first_at: time('The first of them.'),
      last_at: time('The last.'),
    },
  },
  'target.unhealthy': {
    description: 'A target’s upstream does not answer any more.',
    data: { ...target, at: time('Since when.') },
  },
  'target.recovered': {
    description: 'A target’s upstream answers again.',
    data: { ...target, at: time('Since when.') },
  },
  'quota.warning': { description: '80 % of a quota are used.', data: quota },
  'quota.exhausted': { description: 'A quota is used up; calls are refused.', data: quota },
  'member.invited': {
    description: 'Somebody was invited.',
    data: {
      invitation_id: id('inv', 'The invitation.'),
      email: nullable(text('ada@example.com', 'The address it went to.')),
      role,
    },
  },
  'member.joined': { description: 'Somebody became a member.', data: { ...member, role } },
  'member.role_changed': {
    description: 'A member has another role.',
    data: {
      ...member,
      before: text('viewer', 'The role before.'),
      after: text('developer', 'The role now.'),
    },
  },
  'member.deactivated': {
    description: 'A member was deactivated: sessions ended, personal keys suspended.',
    data: leaving,
  },
  'member.removed': { description: 'A member was removed.', data: leaving },
  'session.revoked': {
    description: 'A dashboard session was ended by somebody else or by a rule.',
    data: {
      session_id: id('ses', 'The session.'),
      user_id: id('usr', 'Whose it was.'),
      reason: text('by_admin', 'Why it ended.'),
    },
  },
  'sso.connection_changed': {
    description: 'A single sign-on connection was added, changed or removed.',
    data: {
      connection_id: id('con', 'The connection.'),
      issuer: text('https://idp.example', 'The identity provider.'),
      name: text('Okta', 'What the organization calls it.'),
      change: maybe(text('created', 'created, updated or removed.')),
    },
  },
  'domain.verified': { description: 'A domain was proven to be yours.', data: domain },
  'domain.lost': { description: 'The proof of a domain has disappeared.', data: domain },
  'scim.token_issued': { description: 'A SCIM token was issued.', data: token },
  'scim.token_revoked': { description: 'A SCIM token was revoked.', data: token },
  'scim.user_created': { description: 'The directory added somebody.', data: directoryUser },
  'scim.user_updated': { description: 'The directory changed somebody.', data: directoryUser },
  'scim.user_deprovisioned': {
    description: 'The directory deactivated or deleted somebody.',
    data: {
      ...directoryUser,
      active: maybe(boolean(false, 'Whether the directory lets them in.')),
    },
  },
  'scim.group_changed': {
    description: 'The directory changed a group or its members.',
    data: {
      group_id: id('grp', 'The group.'),
      display_name: text('Engineering', 'Its name.'),
      change: maybe(text('updated', 'created, updated or deleted.')),
      members_added: maybe(number(1, 'Members added.')),
      members_removed: maybe(number(0, 'Members removed.')),
    },
  },
  'webhook.endpoint_disabled': {
    description: 'An endpoint is disabled: its events become skipped deliveries.',
    data: {
      ...endpoint,
      reason: text('failing', 'by_hand, gone (410), receiver_asked or failing (5 days).'),
    },
  },
  'webhook.endpoint_enabled': { description: 'An endpoint was enabled again.', data: endpoint },
  'webhook.ping': {
    description: 'Somebody asked for a test; only the endpoint in question gets it.',
    data: {
      endpoint_id: endpoint.endpoint_id,
      message: text('Hello from Intercept', 'A greeting.'),
    },
  },
  'audit.head_sealed': {
    description:
      'Where the audit log ends, signed; daily while there are new entries. Kept, it shows a log that was put back (`intercept audit verify --against`).',
    data: {
      organization_id: id('org', 'The organization.'),
      sequence: number(1204, 'The number of the last entry.'),
      hash: text('9f2c…', 'Its hash.'),
      seal: text('v1.k1.x7Qa…', 'A code over both under the master key of the installation.'),
    },
  },
  'organization.plan_changed': {
    description: 'The organization has another plan.',
    data: {
      before: text('standard', 'The plan before.'),
      after: text('enterprise', 'The plan now.'),
    },
  },
} as const satisfies Readonly<
  Record<string, { readonly description: string; readonly data: DataTable }>
>

export type EventTypeName = keyof typeof dataOf

export type EventData<Type extends EventTypeName> = Members<(typeof dataOf)[Type]['data']>

type Members<Table> = {
  readonly [Name in keyof Table as IsRequired<Table[Name]> extends true ? Name : never]: ValueOf<
    Table[Name]
  >
} & {
  readonly [Name in keyof Table as IsRequired<Table[Name]> extends true ? never : Name]?:
    | ValueOf<Table[Name]>
    | undefined
}
type IsRequired<Field> = Field extends DataField<unknown, infer Required> ? Required : never
type ValueOf<Field> = Field extends DataField<infer Value> ? Value : never
