/** Last words of a path that are verbs rather than nouns. */
const verbs: ReadonlySet<string> = new Set([
  'accept',
  'apply',
  'cancel',
  'check',
  'count',
  'disable',
  'discover',
  'enable',
  'export',
  'look',
  'pause',
  'ping',
  'plan',
  'preview',
  'reach',
  'replay',
  'resume',
  'revoke',
  'rotate',
  'take-over',
  'try',
])

/** Routes whose names would be odd by the rule in `operationId`. */
const exceptions: Readonly<Record<string, string>> = {
  'GET /organizations/:organization': 'getOrganization',
  'PATCH /organizations/:organization': 'updateOrganization',
  'DELETE /organizations/:organization': 'deleteOrganization',
  'GET /me': 'getMe',
  'PATCH /me': 'updateMe',
  'POST /me/identities': 'linkIdentity',
  'POST /me/identities/look': 'lookAtIdentity',
  'POST /me/invitations/:invitation/accept': 'acceptMyInvitation',
  'POST /setup/look': 'lookAtSetupLink',
  'POST /invitations/look': 'lookAtInvitation',
  'POST /invitations/accept': 'acceptInvitation',
  'GET /organizations/:organization/invitations/ways-in': 'getWaysIn',
  'POST /organizations/:organization/connections/discover': 'discoverProvider',
  'GET /organizations/:organization/connections/:connection/dependents': 'getConnectionDependents',
  'GET /organizations/:organization/keys/:key/callers': 'getKeyCallers',
  'GET /organizations/:organization/audit': 'listAuditEntries',
  'POST /organizations/:organization/configuration/take-over': 'takeOver',
  'GET /sign-in-options': 'getSignInOptions',
  'POST /setup': 'setUp',
  'POST /credentials/revoke': 'revokeCredential',
  'POST /organizations/:organization/keys': 'issueKey',
  'PUT /organizations/:organization/keys/:key': 'updateKey',
  'POST /organizations/:organization/keys/:key/end-old-secret': 'endOldSecretOfKey',
  'POST /organizations/:organization/access-tokens': 'issueAccessToken',
  'POST /organizations/:organization/connections/reservations': 'reserveConnection',
  'POST /organizations/:organization/connections/:connection/default': 'makeConnectionDefault',
  'POST /organizations/:organization/webhooks/endpoints/:endpoint/sample': 'sendSampleToEndpoint',
  'POST /organizations/:organization/webhooks/replays': 'replayDeliveries',
  'POST /organizations/:organization/webhooks/replays/count': 'countReplay',
  'POST /organizations/:organization/webhooks/secret/end-old': 'endOldWebhookSecrets',
  'GET /organizations/:organization/calls/live': 'streamCalls',
  'GET /organizations/:organization/calls/top': 'getTopOfCalls',
  'POST /organizations/:organization/calls/export': 'exportCalls',
  'GET /organizations/:organization/first-steps': 'getFirstSteps',
  'GET /organizations/:organization/configuration/managed': 'listManagedThings',
}

/** Returns a route's short name for clients, such as `listKeys` or `rotateKey`. */
export function operationId(method: string, pattern: string): string {
  const exception = exceptions[`${method} ${pattern}`]
  if (exception !== undefined) return exception
  const words = pattern
    .replace(/^\/organizations\/:organization(?=\/)/, '')
    .replace(/^\/webhooks(?=\/(endpoints|deliveries))/, '')
    .split('/')
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  const isVerb = method === 'POST' && verbs.has(last)
  const named = isVerb ? words.slice(0, -1) : words
  const isOne = named.at(-1)?.startsWith(':') === true
  const nouns = named.filter((word) => !word.startsWith(':'))
  const noun = nouns
    .map((word, at) => (at < nouns.length - 1 || isOne ? singular(word) : word))
    .map((word) => capitalized(word === 'me' ? 'my' : word))
    .join('')
  if (isVerb) return camel(last) + noun
  if (method === 'GET') return (isOne || !isPlural(last) ? 'get' : 'list') + noun
  if (method === 'POST') return `create${nouns.map((word) => capitalized(singular(word))).join('')}`
  return ({ PUT: 'set', PATCH: 'update', DELETE: 'delete' }[method] ?? 'do') + noun
}

function isPlural(word: string): boolean {
  return word.endsWith('s') && !word.endsWith('ss')
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return isPlural(word) ? word.slice(0, -1) : word
}

function camel(word: string): string {
  return word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function capitalized(word: string): string {
  const whole = camel(word)
  return whole.charAt(0).toUpperCase() + whole.slice(1)
}
