import type { AccessTokenRecord } from '../../store/index.ts'
import { command, need, readEnd, UsageError } from '../lib/command.ts'
import { organizationsOf, tokensOf } from '../lib/nouns.ts'
import { withServices, type Services } from '../lib/services.ts'
import { firstListed, isoTime, renderTable, shortTime } from '../lib/table.ts'
import { nameAndId } from '../lib/terminal.ts'

const operatorFlag = {
  type: 'boolean',
  about: "the operator's own, for organizations and plans",
} as const

export const commands = {
  issue: command({
    usage:
      '[org] --name NAME [--permission PERMISSION]… [--expires 90d|never] [--cidr RANGE]… [--operator]',
    about: 'issue an access token for a program that administers; its secret is printed once',
    options: {
      name: { type: 'string', value: 'NAME', about: 'which program uses it' },
      permission: {
        type: 'string',
        multiple: true,
        value: 'PERMISSION',
        about:
          'what it may do, such as keys.issue; may be given more than once. Without it: only look',
      },
      expires: {
        type: 'string',
        value: 'TIME',
        about: 'how long it lives, such as 90d, or never; 90d unless given',
      },
      cidr: {
        type: 'string',
        multiple: true,
        value: 'RANGE',
        about: 'addresses it may come from; may be given more than once',
      },
      operator: operatorFlag,
    },
    examples: [
      'intercept token issue acme --name terraform --permission targets.manage --permission traffic.see',
      'intercept token issue --operator --name provisioning',
    ],
    run: async ({ values, positionals: [slug] }, terminal) => {
      const { expires, operator = false } = values
      const input = {
        name: need('--name', values.name),
        permissions: values.permission,
        cidrs: values.cidr,
        expiresAt: expires === undefined ? undefined : parseEnd(expires),
      }
      return await withServices(terminal, async (services) => {
        const organization = await ownerOf(services, { slug, operator })
        const by = { organization, actor: services.actor }
        const { token, secret } = await (await tokensOf(services)).issue(input, by)
        const owner = organization?.slug ?? 'the operator'
        const text = [
          `Access token ${nameAndId(token)} of ${owner}. Its secret is shown now and never again:`,
          '',
          `  ${secret.reveal()}`,
          '',
          'Send it as Authorization: Bearer <token> to /api/v1.',
        ]
        return { data: { ...present(token), secret: secret.reveal() }, text: text.join('\n') }
      })
    },
  }),
  list: command({
    usage: '[org] [--operator]',
    about: 'list access tokens, newest first, with their last use',
    options: { operator: operatorFlag },
    examples: ['intercept token list acme'],
    run: async ({ values, positionals: [slug] }, terminal) =>
      await withServices(terminal, async (services) => {
        const { operator = false } = values
        const organization = await ownerOf(services, { slug, operator })
        const tokens = await tokensOf(services)
        const found = await firstListed(
          terminal,
          async (limit) => await tokens.list(organization?.id, { limit }),
        )
        const rows = found.map((token) => [
          token.id,
          token.name,
          token.hint,
          stateOf(token),
          token.permissions.join(' ') || 'operator',
          shortTime(token.lastUsedAt),
          shortTime(token.expiresAt),
        ])
        const head = ['ID', 'NAME', 'HINT', 'STATE', 'PERMISSIONS', 'LAST USED (UTC)', 'ENDS']
        return { data: found.map(present), text: renderTable(head, rows, 'No access token yet.') }
      }),
  }),
  revoke: command({
    usage: '<token-id>',
    about: 'revoke an access token for good; done when every node refuses it',
    examples: ['intercept token revoke tok_01hzy3k9v6m2d8q4t7w0x5c1bn'],
    run: async ({ positionals: [id = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const tokens = await tokensOf(services)
        const { organizationId } = await tokens.find(id)
        const { token, confirmation } = await tokens.revoke({ organizationId, id }, services.actor)
        const { nodes, silentNodes, tookMs } = confirmation
        const data = {
          ...present(token),
          confirmation: { nodes, silent_nodes: silentNodes, took_ms: tookMs },
        }
        return { data, text: `Access token ${nameAndId(token)} is revoked.` }
      }),
  }),
}

async function ownerOf(services: Services, asked: { slug: string | undefined; operator: boolean }) {
  if (asked.operator) {
    if (asked.slug === undefined) return undefined
    throw new UsageError("An operator's token belongs to no organization; leave <org> out")
  }
  if (asked.slug === undefined) throw new UsageError('<org> is missing')
  return await (await organizationsOf(services)).get(asked.slug)
}

function parseEnd(text: string): number | null {
  return readEnd('--expires', text, Date.now())
}

function stateOf({ revokedAt, expiresAt }: AccessTokenRecord): string {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= Date.now() ? 'expired' : 'active'
}

function present(token: AccessTokenRecord) {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    state: stateOf(token),
    permissions: token.permissions,
    cidrs: token.cidrs ?? null,
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    last_used_at: isoTime(token.lastUsedAt),
    last_used_address: token.lastUsedAddress ?? null,
    revoked_at: isoTime(token.revokedAt),
  }
}
