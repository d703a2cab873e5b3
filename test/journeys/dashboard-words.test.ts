import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { inTabs } from '../harness/dashboard.ts'
import { people } from '../harness/company.ts'
import { furnishedForTests, type Furnished } from '../harness/furnished.ts'
import { cutTexts, plainTexts, showMarked } from '../harness/pseudo.ts'

/** Names and values that are data; all other text must come from the catalogue. */
const data = [
  /\S+@\S+|https?:\/\/\S+|svc_\S+/g,
  /\b[a-z]+(?:_[a-z]+)*(?:\.[a-z_]+)+\b|\/(?:v1|admin)\/\S*/g,
  // Times and numbers with units, which Intl formats.
  /\d{1,2}\.? \w{3,4}\.? \d{4}, [\d:]+|[\d.,]+ (?:ms|s|min|bytes?|[KMG]iB|days?|hours?|minutes?|Tage?|Stunden?|Minuten?)\b|\bUTC\b/g,
  // Technical names: methods, effects, types, fields, record types, languages.
  /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TXT|allow|deny|false|true)\b/g,
  /\b(?:api_key|access_token|call|configuration|target|quota|member|session|sso|domain|scim|webhook|organization)\b(?:\.\w+)?/g,
  /\b(?:slug|name|upstream|settings|disabled|otherwise|rules|Node\.js|Python|Go|Ruby|PHP|Java)\b/g,
  // The days on a chart's axis, in both languages.
  /\b\d{2}\.? (?:Jan|Feb|Mar|März|Apr|May|Mai|Juni?|Juli?|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)\b\.?/g,
  // Names given by people.
  /\b(?:Acme|acme|Intercept|Olga Owner|Deployment bot|payments|ledger|(?:partner|nightly|mobile|checkout)-\w+)\b/g,
  /\b(?:Okta production|Okta trial|Entra of the sister company|Keycloak, not yet tried|Google Workspace until 2025)\b/g,
  /\b(?:developer|platform|audit|search|team|env|prod|reporting|Mozilla.*|HeadlessChrome\S*|node|Okta SCIM Client 1\.0\.0)\b/g,
  new RegExp(people.map(([name]) => name).join('|'), 'g'),
  // Messages from the server, which come with a code.
  /An API key was issued\.|Token: It did not exchange.*|There is (?:no attribute|no\s+(?:TXT\s+)?record at|a user).*/g,
]

describe('the words of every page', { timeout: 240_000 }, () => {
  let parts: Furnished
  before(async () => {
    parts = await furnishedForTests()
  })
  after(async () => await parts[Symbol.asyncDispose]())

  for (const [language, named] of [
    ['en', 'in a language whose words are 40 % longer'],
    ['de', 'in German'],
  ] as const) {
    test(`${named} each page has only texts of the catalogue, and none is cut off`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'intercept-pseudo-'))
      try {
        await using visitor = await parts.visit()
        await showMarked(visitor.context, folder, language)
        const wrong: Record<string, readonly string[]> = {}
        await inTabs(visitor, parts.addresses, async (tab, [name, address]) => {
          const { page } = tab
          await page.setViewportSize({ width: 1360, height: 850 })
          await parts.open(tab, name, address)
          await page.getByText('⟦').first().waitFor()
          await page.waitForSelector('p[role=status] > span', { state: 'detached' })
          const found = (await plainTexts(page, data)).map((text) => `plain: ${text}`)
          found.push(...(await cutTexts(page)).map((text) => `cut off: ${text}`))
          await page.setViewportSize({ width: 390, height: 844 })
          found.push(...(await cutTexts(page)).map((text) => `cut off at 390 px: ${text}`))
          if (found.length > 0) wrong[name] = found
        })
        assert.deepEqual(wrong, {})
        assert.equal(await visitor.page.evaluate('document.documentElement.lang'), language)
        assert.deepEqual(visitor.findings, [])
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})
