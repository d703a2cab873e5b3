import { systemClock } from '../../clock.ts'
import type { Directories } from '../../directory/index.ts'
import type { DirectoryTokenRecord, OrganizationRecord } from '../../store/index.ts'
import { command } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import { withServices, type Services } from '../lib/services.ts'
import { isoTime, renderTable, shortTime } from '../lib/table.ts'
import { nameAndId, type Terminal } from '../lib/terminal.ts'

export const commands = {
  'token issue': command({
    usage: '<org> [--name NAME]',
    about: 'issue a SCIM token for the company directory; it is printed once',
    options: {
      name: {
        type: 'string',
        default: 'command line',
        value: 'NAME',
        about: 'what the token is for',
      },
    },
    examples: ["intercept scim token issue acme --name 'Entra ID'"],
    run: async ({ values, positionals: [slug = ''] }, terminal) =>
      await withDirectory(terminal, slug, async ({ services, organization, tokens, baseOf }) => {
        const input = { name: values.name ?? 'command line' }
        const base = await baseOf()
        const { token, secret } = await tokens.issue(organization, input, services.actor)
        const data = { ...present(token), secret: secret.reveal(), base }
        const text = [
          `SCIM token ${nameAndId(token)} of ${organization.slug}. It is shown now and never again:`,
          '',
          `  ${secret.reveal()}`,
          '',
          `Give it to the directory together with the address ${base}`,
        ]
        return { data, text: text.join('\n') }
      }),
  }),
  'token list': command({
    usage: '<org>',
    about: 'list SCIM tokens with their last use',
    examples: ['intercept scim token list acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withDirectory(terminal, slug, async ({ organization, tokens }) => {
        const found = await tokens.list(organization.id)
        const ofLeavers = await tokens.listOfLeavers(organization.id, found)
        const rows = found.map((token) => [
          token.id,
          token.name,
          token.hint,
          token.revokedAt !== undefined
            ? 'revoked'
            : ofLeavers.has(token.id)
              ? 'active, issuer left'
              : 'active',
          shortTime(token.lastUsedAt),
        ])
        const head = ['ID', 'NAME', 'HINT', 'STATE', 'LAST USED (UTC)']
        return { data: found.map(present), text: renderTable(head, rows, 'No SCIM token yet.') }
      }),
  }),
  'token revoke': command({
    usage: '<org> <token-id>',
    about: 'revoke a SCIM token for good: its next request is refused',
    examples: ['intercept scim token revoke acme tok_01hzy3k9v6m2d8q4t7w0x5c1bn'],
    run: async ({ positionals: [slug = '', id = ''] }, terminal) =>
      await withDirectory(terminal, slug, async ({ services, organization, tokens }) => {
        const token = await tokens.revoke(organization.id, id, services.actor)
        return { data: present(token), text: `SCIM token ${token.id} is revoked.` }
      }),
  }),
}

interface Opened {
  readonly services: Services
  readonly organization: OrganizationRecord
  readonly tokens: Pick<Directories['tokens'], 'issue' | 'list' | 'listOfLeavers' | 'revoke'>
  /** The URL to which the directory sends its requests. */
  readonly baseOf: () => Promise<string>
}

async function withDirectory<T>(
  terminal: Terminal,
  slug: string,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  return await withServices(terminal, async (services) => {
    const { remote, config, store, sealer } = services
    const organization = await (await organizationsOf(services)).get(slug)
    if (remote !== undefined) {
      const { remoteDirectory } = await import('../remote/directory.ts')
      const directory = remoteDirectory(remote)
      const baseOf = async (): Promise<string> => await directory.baseOf(organization.id)
      return await work({ services, organization, tokens: directory.tokens, baseOf })
    }
    const { createDirectories } = await import('../../directory/index.ts')
    await using directories = createDirectories({
      ...{ store, sealer, clock: systemClock },
      // The command line manages tokens and lists no users, so cursors need no lifetime.
      maxTokens: config.limits.scimTokens,
      cursorTimeoutMs: 0,
    })
    const baseOf = async (): Promise<string> => `${config.baseUrl}/scim/v2`
    return await work({ services, organization, tokens: directories.tokens, baseOf })
  })
}

function present(token: DirectoryTokenRecord) {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    state: token.revokedAt === undefined ? 'active' : 'revoked',
    created_at: isoTime(token.createdAt),
    last_used_at: isoTime(token.lastUsedAt),
    revoked_at: isoTime(token.revokedAt),
  }
}
