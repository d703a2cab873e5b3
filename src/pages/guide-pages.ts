import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../errors.ts'
import type { App } from '../http/index.ts'
import { renderMarkdown } from './markdown.ts'
import { page, pageHeaders } from './page.ts'

const guidesFolder = join(import.meta.dirname, '..', '..', 'docs', 'guides')

const guides: Readonly<Record<string, string>> = {
  configuration: 'Configuration as a file',
  'sso-openid-connect': 'Company sign-in with any OpenID provider',
  'sso-okta': 'Company sign-in with Okta',
  'sso-entra': 'Company sign-in with Microsoft Entra ID',
  'sso-google': 'Company sign-in with Google Workspace',
  scim: 'People from the company directory',
  'scim-okta': 'People from Okta',
  'scim-entra': 'People from Microsoft Entra ID',
  'scim-google': 'People from Google Workspace',
  'scim-jumpcloud': 'People from JumpCloud',
  'scim-onelogin': 'People from OneLogin',
  'scim-pingone': 'People from PingOne',
  'receive-webhooks': 'Receive webhooks',
  'export-logs': 'Call records and audit entries in other stores',
  'access-tokens': 'Administer from a program',
}

/** The guides of docs/guides, for whoever sets something up without the repository at hand. */
export function registerGuidePages(app: App): void {
  app.get<{ Params: { name: string } }>('/guides/:name', async (request, reply) => {
    const { name } = request.params
    const title = Object.hasOwn(guides, name) ? guides[name] : undefined
    if (title === undefined) throw new Problem('not_found')
    const text = await readFile(join(guidesFolder, `${name}.md`), 'utf8')
    return reply.headers(pageHeaders).send(page(title, renderMarkdown(text), all))
  })

  app.get('/guides', async (_request, reply) => {
    const items = Object.entries(guides).map(
      ([name, title]) => `<li><a href="/guides/${name}">${title}</a></li>`,
    )
    const list = `<h1>Guides</h1>\n<ul>\n${items.join('\n')}\n</ul>`
    return reply.headers(pageHeaders).send(page('Guides', list, all))
  })
}

const all = '<a href="/guides">All guides</a>'
