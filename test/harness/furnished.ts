import { callOnce, furnish, idsOf } from './acme.ts'
import { browserForTests, type TestBrowser, type Visitor } from './browser.ts'
import { companyFor } from './company.ts'
import { freshDashboard, visitDashboard } from './dashboard.ts'
import { organizationPages, opensDialog, ownPages, pageAddress, type PageIds } from './pages.ts'
import { firstOwner, withLinks } from './person.ts'
import { productForTests } from './product.ts'
import { command } from './sso.ts'
import { upstreamForTests } from './upstream.ts'

const names = Object.keys(organizationPages) as (keyof typeof organizationPages)[]

/** The product with a well-filled organization acme, and a browser for acme's owner. */
export interface Furnished extends AsyncDisposable {
  readonly baseUrl: string
  readonly ids: PageIds
  /** The name and the path of each page in pages.ts. */
  readonly addresses: readonly (readonly [string, string])[]
  visit(expected?: readonly RegExp[]): Promise<Visitor>
  /** The path of a link that signs the owner in once. */
  signInPath(): Promise<string>
  /** Starts the product again, now known to browsers under another address; returns its port. */
  moveTo(baseUrl: string): Promise<number>
  /** Opens a page and waits for its heading and, if its URL opens a dialog, for the dialog. */
  open(visitor: Visitor, name: string, address: string): Promise<void>
}

/** Builds the dashboard if necessary, starts the product and a browser, and fills the organization, with 40 calls. */
export async function furnishedForTests(): Promise<Furnished> {
  await using starting = new AsyncDisposableStack()
  freshDashboard()
  const product = starting.use(await productForTests({ settings: { SIGN_UP: 'open' } }))
  const browser: TestBrowser = starting.use(await browserForTests())
  const upstream = starting.use(await upstreamForTests((_, response) => response.end('ok')))
  const owner = await firstOwner(product)
  await command(product, 'org set-plan acme enterprise')
  starting.use(await companyFor(product, browser, owner))
  const made = await furnish(owner, upstream.url)
  for (let number = 0; number < 40; number++) await callOnce(product, made.secrets, number)
  const ids = await idsOf(owner, made)
  const signInLink = async (): Promise<string> =>
    (await withLinks(product, async (links) => await links.signInLink('olga@acme.test'))) ?? ''
  const parts = starting.move()
  const { baseUrl } = product
  return {
    baseUrl,
    ids,
    addresses: [
      ...names.map((name) => [name, pageAddress(name, ids)] as const),
      ...ownPages.map((name) => [name, `/${name}`] as const),
    ],
    signInPath: async () => {
      const { pathname, search, hash } = new URL(await signInLink())
      return pathname + search + hash
    },
    moveTo: async (address) => {
      await product.restart({ BASE_URL: address })
      return product.port
    },
    visit: async (expected = []) =>
      await visitDashboard(browser, { baseUrl, link: await signInLink(), expected }),
    open: async ({ page }, name, address) => {
      await page.goto(baseUrl + address)
      await page.locator('h1').first().waitFor()
      if (opensDialog.has(name)) await page.getByRole('dialog').first().waitFor()
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  }
}
