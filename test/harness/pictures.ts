// npm run pictures: every page with a day of calls behind it, light, dark and narrow, into test/pictures; three into docs/pictures.
import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { browserForTests, type TestBrowser } from './browser.ts'
import { checkState, freshDashboard, visitDashboard } from './dashboard.ts'
import { firstOwner, withLinks, type Person } from './person.ts'
import { productForTests, type TestProduct } from './product.ts'
import { intercept } from './terminal.ts'
import { upstreamForTests } from './upstream.ts'

const root = join(import.meta.dirname, '..', '..')
const dayMs = 86_400_000
const hourMs = 3_600_000
const minuteMs = 60_000
const stepMs = 6 * minuteMs
const biggestBytes = 150 * 1024
const forReadme = ['overview', 'calls', 'target']
const looks = [
  { look: 'light', colorScheme: 'light', width: 1360 },
  { look: 'dark', colorScheme: 'dark', width: 1360 },
  { look: 'narrow', colorScheme: 'light', width: 390 },
] as const

freshDashboard()
await using product = await productForTests({ settings: { SIGN_UP: 'open' } })
const owner = await firstOwner(product)
const planned = await intercept(['org', 'set-plan', 'acme', 'enterprise'], { env: product.env })
if (planned.code !== 0) throw new Error(planned.err)
await using upstream = await upstreamForTests((request, response) => {
  response.statusCode = request.url?.includes('missing') === true ? 404 : 200
  response.end('ok')
})
const { keyId } = await liveThroughADay(product, owner, upstream.url)
await using browser = await browserForTests()
for (const look of looks) await takeAll(browser, product, keyId, look)
await takeAll(browser, product, keyId, {
  look: 'readme',
  colorScheme: 'light',
  width: 1280,
  height: 720,
})
mkdirSync(join(root, 'docs', 'pictures'), { recursive: true })
for (const name of forReadme) {
  const picture = join(root, 'test', 'pictures', `all-${name}-readme.png`)
  if (statSync(picture).size > biggestBytes) throw new Error(`${name} is larger than 150 KB`)
  copyFileSync(picture, join(root, 'docs', 'pictures', `${name}.png`))
}

/** Targets, rules, keys, people, and calls spread over the last 24 hours; the product's clock is moved along. */
async function liveThroughADay(
  at: TestProduct,
  person: Person,
  upstreamUrl: string,
): Promise<{ keyId: string }> {
  const rules = [
    { effect: 'allow', methods: ['GET'], path: '/v1/charges/*', trial: false },
    { effect: 'allow', methods: ['POST'], path: '/v1/charges', trial: false },
    { effect: 'deny', methods: ['DELETE'], path: '/admin/*', trial: false },
    { effect: 'deny', methods: [], path: '/v1/refunds/*', trial: true },
    { effect: 'allow', methods: [], path: '/*', trial: false },
  ]
  for (const slug of ['payments', 'ledger', 'search']) {
    await done(person, 'POST /organizations/acme/targets', {
      slug,
      upstream: upstreamUrl,
      ...(slug === 'payments' ? { rules } : {}),
    })
  }
  const secrets: string[] = []
  let keyId = ''
  for (const [name, more] of [
    ['checkout-worker', {}],
    ['nightly-export', { cidrs: ['10.2.0.0/16'] }],
    ['partner-acme', { grants: [{ target: 'ledger', methods: ['GET'] }] }],
    ['mobile-bff', { rateLimit: { calls: 1, perSeconds: 60 }, personal: true }],
  ] as const) {
    const made = await done(person, 'POST /organizations/acme/keys', { name, ...more })
    secrets.push(made.secret)
    if (keyId === '') keyId = made.key.id
  }
  for (const [email, role] of [
    ['grace@acme.test', 'admin'],
    ['edsger@acme.test', 'developer'],
  ]) {
    await done(person, 'POST /organizations/acme/invitations', { email, role })
  }
  await done(person, 'POST /organizations/acme/webhooks/endpoints', {
    url: `${upstreamUrl}/hooks`,
    description: 'Deployment bot',
  })
  await done(person, 'POST /organizations/acme/domains', { name: 'acme.test' })
  at.clock.forward(-dayMs)
  for (let passed = 0; passed < dayMs; passed += passed < dayMs - hourMs ? stepMs : minuteMs) {
    const wave =
      4 + Math.round(2 * Math.sin((passed / dayMs) * 6)) + (Math.floor(passed / minuteMs) % 3)
    const calls = Array.from(
      { length: wave },
      async (_, index) => await callOnce(at, secrets, Math.floor(passed / minuteMs) + index),
    )
    await Promise.all(calls)
    at.clock.forward(passed < dayMs - hourMs ? stepMs : minuteMs)
  }
  return { keyId }
}

async function callOnce(
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

async function done(person: Person, route: string, body: object) {
  const { status, json, text } = await person.call(route, body)
  if (status >= 300) throw new Error(`${route}: ${text}`)
  return json
}

async function takeAll(
  at: TestBrowser,
  of: TestProduct,
  key: string,
  look: {
    readonly look: string
    readonly colorScheme: 'light' | 'dark'
    readonly width: number
    readonly height?: number
  },
): Promise<void> {
  const pages = {
    overview: '',
    calls: '/calls',
    keys: '/keys',
    key: `/keys/${key}`,
    targets: '/targets',
    target: '/targets/payments',
    webhooks: '/webhooks',
    deliveries: '/webhooks/deliveries',
    types: '/webhooks/types',
    secret: '/webhooks/secret',
    members: '/members',
    invitations: '/members?tab=invitations',
    sso: '/sso',
    'sso-connection': '/sso?tab=connection',
    'sso-directory': '/sso?tab=directory',
    'sso-roles': '/sso?tab=roles',
    audit: '/audit',
    settings: '/settings',
  }
  const link = await withLinks(of, async (links) => await links.signInLink('olga@acme.test'))
  await using visitor = await visitDashboard(at, { baseUrl: of.baseUrl, link, ...look })
  const forAll = look.look !== 'readme'
  for (const [name, path] of Object.entries(pages)) {
    if (!forAll && !forReadme.includes(name)) continue
    await visitor.page.goto(`${of.baseUrl}/o/acme${path}`)
    await visitor.page.getByRole('heading', { level: 1 }).waitFor()
    await checkState(visitor, `all-${name}-${look.look}`)
  }
  for (const name of forAll ? ['you', 'welcome', 'sign-in'] : []) {
    await visitor.page.goto(`${of.baseUrl}/${name}`)
    await visitor.page.getByRole('heading', { level: 1 }).waitFor()
    await checkState(visitor, `all-${name}-${look.look}`)
  }
  for (const finding of visitor.findings) console.log(`${look.look}: ${finding}`)
  if (visitor.findings.length > 0) process.exitCode = 1
}
