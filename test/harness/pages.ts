/**
 * The paths of those pages of an organization that have a picture, by the picture's name. `PageIds` replace the names
 * in braces.
 */
export const organizationPages = {
  overview: '',
  calls: '/calls',
  call: '/calls?call={call}',
  keys: '/keys',
  key: '/keys/{key}',
  'key-rotated': '/keys/{rotated}',
  'keys-issue': '/keys?issue=now',
  targets: '/targets',
  target: '/targets/payments',
  'target-traffic': '/targets/payments?tab=traffic',
  'target-limits': '/targets/payments?tab=limits',
  'target-upstream': '/targets/payments?tab=upstream',
  'target-capture': '/targets/payments?tab=capture',
  webhooks: '/webhooks',
  endpoint: '/webhooks/{endpoint}',
  deliveries: '/webhooks/deliveries',
  types: '/webhooks/types',
  secret: '/webhooks/secret',
  operation: '/operations/{operation}',
  members: '/members',
  member: '/members/{member}',
  invitations: '/members?tab=invitations',
  sso: '/sso',
  'sso-connection': '/sso?tab=connection',
  'sso-directory': '/sso?tab=directory',
  'sso-roles': '/sso?tab=roles',
  audit: '/audit',
  'audit-entry': '/audit?entry={entry}',
  settings: '/settings',
  'access-tokens': '/settings/access-tokens',
  'access-tokens-issue': '/settings/access-tokens?issue=now',
} as const

export const opensDialog: ReadonlySet<string> = new Set([
  'call',
  'keys-issue',
  'audit-entry',
  'access-tokens-issue',
])

export type PageIds = Readonly<
  Record<'call' | 'key' | 'rotated' | 'endpoint' | 'operation' | 'member' | 'entry', string>
>

/** Pages outside any organization. */
export const ownPages = ['you', 'welcome', 'sign-in'] as const

export function pageAddress(name: keyof typeof organizationPages, ids: PageIds): string {
  const path = organizationPages[name].replace(/\{(\w+)\}/, (_, id: keyof PageIds) => ids[id])
  return `/o/acme${path}`
}
