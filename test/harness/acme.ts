import { ask } from './company.ts'
import type { PageIds } from './pages.ts'
import type { Person } from './person.ts'
import type { TestProduct } from './product.ts'

const recordsWithinMs = 10_000

interface Furniture {
  /** The secrets of `keys`, in the same order. */
  readonly secrets: readonly string[]
  readonly keys: readonly string[]
  readonly endpoint: string
  readonly operation: string
}

/**
 * Creates targets, rules, several kinds of keys, open invitations and an endpoint in acme, pings the endpoint and
 * replays its deliveries.
 */
export async function furnish(person: Person, upstreamUrl: string): Promise<Furniture> {
  const rules = [
    { effect: 'allow', methods: ['GET'], path: '/v1/charges/*', trial: false },
    { effect: 'allow', methods: ['POST'], path: '/v1/charges', trial: false },
    { effect: 'deny', methods: ['DELETE'], path: '/admin/*', trial: false },
    { effect: 'deny', methods: [], path: '/v1/refunds/*', trial: true },
    { effect: 'allow', methods: [], path: '/*', trial: false },
  ]
  for (const slug of ['payments', 'ledger', 'search']) {
    await ask(person, 'POST /organizations/acme/targets', {
      slug,
      upstream: upstreamUrl,
      ...(slug === 'payments' ? { rules } : {}),
    })
  }
  const secrets: string[] = []
  const keys: string[] = []
  for (const [name, more] of [
    ['checkout-worker', { labels: { team: 'payments', env: 'prod' } }],
    ['nightly-export', { cidrs: ['10.2.0.0/16'], labels: { team: 'reporting' } }],
    ['partner-acme', { grants: [{ target: 'ledger', methods: ['GET'] }] }],
    ['mobile-bff', { rate_limit: { calls: 1, per_seconds: 60 }, personal: true }],
  ] as const) {
    const made = await ask(person, 'POST /organizations/acme/keys', { name, ...more })
    secrets.push(String(made.secret))
    keys.push(String(made.key.id))
  }
  for (const [email, role] of [
    ['grace@acme.test', 'admin'],
    ['donald@acme.test', 'developer'],
  ]) {
    await ask(person, 'POST /organizations/acme/invitations', { email, role })
  }
  const endpoint = await ask(person, 'POST /organizations/acme/webhooks/endpoints', {
    url: `${upstreamUrl}/hooks`,
    description: 'Deployment bot',
  })
  await ask(person, `POST /organizations/acme/webhooks/endpoints/${String(endpoint.id)}/ping`)
  const replay = await ask(person, 'POST /organizations/acme/webhooks/replays', {
    endpoint: endpoint.id,
  })
  return { secrets, keys, endpoint: String(endpoint.id), operation: String(replay.id) }
}

/** Makes one call. `number` selects its key, method and path, so that different calls have different results. */
export async function callOnce(
  at: TestProduct,
  secrets: readonly string[],
  number: number,
): Promise<void> {
  const paths = [
    '/payments/v1/charges/ch_1',
    '/ledger/entries/2026',
    '/payments/v1/refunds/7',
    '/search/places/nearby',
    '/ledger/missing',
  ]
  const path = number % 11 === 7 ? '/payments/admin/users' : (paths[number % paths.length] ?? '/')
  const method = number % 11 === 7 ? 'DELETE' : 'GET'
  const secret =
    secrets[number % 21 === 5 ? 1 : number % 18 === 4 ? 2 : number % 15 === 3 ? 3 : 0] ?? ''
  const answer = await fetch(`${at.baseUrl}/api/v1/intercept${path}`, {
    method,
    headers: { 'X-API-Key': secret },
  })
  await answer.text()
}

/**
 * Rotates one key and finds the ids for the pages' URLs. Requires a call that the rules refused, and a member that a
 * directory created.
 */
export async function idsOf(person: Person, made: Furniture): Promise<PageIds> {
  const [key = '', rotated = ''] = made.keys
  await ask(person, `POST /organizations/acme/keys/${rotated}/rotate`, { overlap_seconds: 86_400 })
  // Call records are written in batches, so the record may appear a moment after the call.
  const until = Date.now() + recordsWithinMs
  let call: string | undefined
  while (call === undefined) {
    const refused = await ask(person, 'GET /organizations/acme/calls?stopped_at=rules')
    call = refused.items[0]?.id as string | undefined
    if (Date.now() > until) throw new Error('no call was recorded')
  }
  const members = await ask(person, 'GET /organizations/acme/members')
  const entries = await ask(person, 'GET /organizations/acme/audit?action=target.created')
  const { endpoint, operation } = made
  return {
    key,
    rotated,
    endpoint,
    operation,
    call,
    member: String(members.items.find((one: { source: string }) => one.source === 'directory').id),
    entry: String(entries.items[0].id),
  }
}
