import { challengeRecord, type Connection, type Sso } from '../../sso/index.ts'
import { snakeCased, type Actor, type DomainRecord } from '../../store/index.ts'
import { BadFinding, command, need, UsageError } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import { withServices, type Services } from '../lib/services.ts'
import { isoTime, renderTable } from '../lib/table.ts'
import { nameAndId, type Terminal } from '../lib/terminal.ts'

export const commands = {
  connect: command({
    usage:
      '<org> --issuer URL --client-id ID (--client-secret-stdin | --private-key) [--domain NAME]… [--name NAME]',
    about: 'connect an OpenID provider and print the addresses to register there',
    options: {
      issuer: { type: 'string', value: 'URL', about: "the provider's issuer" },
      'client-id': { type: 'string', value: 'ID', about: 'what the provider calls Intercept' },
      'client-secret-stdin': {
        type: 'boolean',
        about: 'read the client secret from standard input',
      },
      'private-key': { type: 'boolean', about: 'sign with a key pair instead of a secret' },
      domain: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        about: 'a domain whose people sign in there; may be given more than once',
      },
      name: { type: 'string', value: 'NAME', about: 'what people see' },
    },
    examples: [
      'intercept sso connect acme --issuer https://login.example.com --client-id intercept --client-secret-stdin --domain example.com < secret.txt',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const issuer = need('--issuer', values.issuer)
      const clientId = need('--client-id', values['client-id'])
      const fromInput = values['client-secret-stdin'] === true
      if (fromInput === (values['private-key'] === true)) {
        throw new UsageError('Either --client-secret-stdin or --private-key is needed')
      }
      const credential = fromInput
        ? ({ kind: 'secret', secret: await terminal.readInput() } as const)
        : ({ kind: 'key' } as const)
      return await withSso(terminal, async ({ services, connections, domains }) => {
        const organization = await (await organizationsOf(services)).get(slug)
        // The latest connection becomes the default, because whoever creates one by hand most likely wants sign-ins to
        // use it.
        const input = { issuer, clientId, credential, name: values.name, makeDefault: true }
        const made = await connections.connect(organization.id, input, services.actor)
        const claimed: DomainRecord[] = []
        const of = { organizationId: organization.id, actor: services.actor }
        for (const name of values.domain ?? []) {
          claimed.push(await claim(domains, { ...of, name, connectionId: made.id }))
        }
        const data = { ...present(made), domains: claimed.map(presentDomain) }
        return { data, text: connected(made, claimed) }
      })
    },
  }),
  list: command({
    usage: '<org>',
    about: "list an organization's connections and domains",
    examples: ['intercept sso list acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withSso(terminal, async ({ services, connections, domains }) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const found = await connections.list(organization.id)
        const names = await domains.list(organization.id)
        const rows = found.map((one) => [
          one.id,
          one.name,
          one.issuer,
          one.disabledAt === undefined ? (one.isDefault ? 'default' : 'on') : 'off',
        ])
        const text = [
          renderTable(['ID', 'NAME', 'ISSUER', 'STATE'], rows, 'No connection yet.'),
          renderTable(
            ['DOMAIN', 'STATE'],
            names.map((one) => [one.name, stateOf(one)]),
            'No domain yet.',
          ),
        ].join('\n\n')
        const data = { connections: found.map(present), domains: names.map(presentDomain) }
        return { data, text }
      }),
  }),
  'verify-domain': command({
    usage: '<org> <domain> [--override]',
    about: 'ask the DNS for the proof of a domain now, or vouch for it in a closed network',
    options: {
      override: { type: 'boolean', about: 'vouch for the domain without asking the DNS' },
    },
    examples: ['intercept sso verify-domain acme example.com'],
    run: async ({ values, positionals: [slug = '', name = ''] }, terminal) =>
      await withSso(terminal, async ({ services, domains }) => {
        const { id } = await (await organizationsOf(services)).get(slug)
        const domain = await claim(domains, {
          ...{ organizationId: id, actor: services.actor, name },
        })
        const after =
          values.override === true
            ? await domains.override(id, domain.name, services.actor)
            : await domains.check(id, domain.name, services.actor)
        const answer = { data: presentDomain(after), text: domainText(after) }
        if (after.verifiedAt === undefined) throw new BadFinding(answer)
        return answer
      }),
  }),
}

interface SsoWork {
  readonly services: Services
  readonly connections: Pick<Sso['connections'], 'list' | 'connect'>
  readonly domains: Pick<Sso['domains'], 'list' | 'add' | 'route' | 'check' | 'override'>
}

async function withSso<T>(terminal: Terminal, work: (services: SsoWork) => Promise<T>): Promise<T> {
  return await withServices(terminal, async (services) => {
    const { remote, config, store, sealer, clock } = services
    if (remote !== undefined) {
      const { remoteSso } = await import('../remote/sso.ts')
      return await work({ services, ...remoteSso(remote) })
    }
    const { createOutbound, createTxtResolver } = await import('../../http/index.ts')
    const { createRelyingParty } = await import('../../oidc/index.ts')
    const { randomToken } = await import('../../secrets/index.ts')
    const { Connections, Domains } = await import('../../sso/index.ts')
    const { authUrl, loopbackIsOpen: allowLoopback, outboundAllowCidrs: allowCidrs } = config
    await using outbound = createOutbound({ allowCidrs, allowLoopback })
    const relyingParty = createRelyingParty({
      fetch: async (url, options) => await outbound.fetch(url, options),
      ...{ clock, allowLoopback },
      mintTokenId: randomToken,
    })
    const deps = { store, sealer, clock, relyingParty, authUrl, allowLoopback }
    const connections = new Connections(deps)
    const domains = new Domains({ store, resolveTxt: createTxtResolver() })
    return await work({ services, connections, domains })
  })
}

/** Finds an organization's domain of this name, or adds it; routes it to the connection, if one is given. */
async function claim(
  domains: SsoWork['domains'],
  input: {
    readonly organizationId: DomainRecord['organizationId']
    readonly actor: Actor
    readonly name: string
    readonly connectionId?: string
  },
): Promise<DomainRecord> {
  const { organizationId, actor, ...named } = input
  const known = (await domains.list(organizationId)).find(
    ({ name }) => name === input.name.trim().toLowerCase(),
  )
  if (known === undefined) return await domains.add(organizationId, named, actor)
  const { connectionId } = input
  if (connectionId === undefined) return known
  return await domains.route(organizationId, known.id, { connectionId, actor })
}

function present(connection: Connection) {
  return {
    id: connection.id,
    name: connection.name,
    kind: connection.kind,
    issuer: connection.issuer,
    client_id: connection.clientId,
    redirect_uri: connection.redirectUri,
    initiate_login_uri: connection.initiateLoginUri,
    backchannel_logout_uri: connection.backchannelLogoutUri,
    client_keys_uri: connection.credentialKind === 'key' ? connection.clientKeysUri : null,
    is_default: connection.isDefault,
    disabled_at: isoTime(connection.disabledAt),
    created_at: isoTime(connection.createdAt),
  }
}

function presentDomain(domain: DomainRecord) {
  return {
    id: domain.id,
    name: domain.name,
    state: stateOf(domain),
    verified_by: domain.verifiedBy ?? null,
    connection_id: domain.connectionId ?? null,
    record: snakeCased(challengeRecord(domain)),
    seen: presentSeen(domain.seen),
  }
}

/** Describes what DNS returned at the last check. */
function presentSeen(seen: DomainRecord['seen']) {
  if (seen === undefined) return null
  return { kind: seen['kind'], sentence: seen['sentence'], values: seen['values'] ?? [] }
}

function stateOf(domain: DomainRecord): 'waiting' | 'verified' | 'lost' {
  if (domain.verifiedAt !== undefined) return 'verified'
  return domain.lostAt === undefined ? 'waiting' : 'lost'
}

function connected(connection: Connection, domains: readonly DomainRecord[]): string {
  const keys =
    connection.credentialKind === 'key' ? [`  Our public key   ${connection.clientKeysUri}`] : []
  return [
    `Connection ${nameAndId(connection)}. Register these addresses at the provider:`,
    '',
    `  Redirect         ${connection.redirectUri}`,
    `  Initiate login   ${connection.initiateLoginUri}`,
    `  Logout           ${connection.backchannelLogoutUri}`,
    ...keys,
    ...domains.flatMap((domain) => ['', domainText(domain)]),
  ].join('\n')
}

function domainText(domain: DomainRecord): string {
  if (domain.verifiedAt !== undefined) {
    return `${domain.name} is verified (${domain.verifiedBy === 'operator' ? 'vouched for by the operator' : 'DNS'}).`
  }
  const { name, value } = challengeRecord(domain)
  const seen = domain.seen === undefined ? [] : [String(domain.seen['sentence'])]
  return [`${domain.name} waits for a TXT record:`, '', `  ${name}  TXT  ${value}`, ...seen].join(
    '\n',
  )
}
