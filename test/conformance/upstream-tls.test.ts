// Certificates and names of an upstream over https (RFC 9110, section 4.3.4).
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createSecureContext } from 'node:tls'
import { systemClock } from '../../src/clock.ts'
import { createAddressGuard } from '../../src/http/index.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { createSealer, loadMasterSecrets } from '../../src/secrets/index.ts'
import { openStore } from '../../src/store/index.ts'
import { createTargets, defaultSettings } from '../../src/targets/index.ts'
import { authorityForTests, type TestCertificate } from '../harness/certificate.ts'
import { gatewayForTests, until, type TestGateway } from '../harness/gateway.ts'

describe('an upstream behind TLS', () => {
  const authority = authorityForTests('authority of the tests')
  const stranger = authorityForTests('authority of somebody else')
  const servers: Server[] = []
  /** What the servers received: the server name in the TLS handshake, and the Host of the request. */
  const asked: { name: string | undefined; host: string | undefined }[] = []
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests()
  })
  after(async () => {
    for (const server of servers) server.closeAllConnections()
    for (const server of servers) server.close()
    await gateway[Symbol.asyncDispose]()
  })

  async function serve(certificate: TestCertificate): Promise<number> {
    let name: string | undefined
    const server = createServer(
      {
        ...certificate,
        SNICallback: (servername, done) => {
          name = servername
          done(null, createSecureContext({ ...certificate }))
        },
      },
      (request, response) => {
        asked.push({ name, host: request.headers.host })
        response.end('over TLS')
      },
    )
    server.on('tlsClientError', () => undefined)
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** Creates a target over another database connection, as the command line does, and waits until the node knows it. */
  async function target(slug: string, upstream: string, ca: string | undefined): Promise<void> {
    const { folder } = gateway.product
    await using store = await openStore({ folder, clock: systemClock, isNode: false })
    const me = await gateway.call('', gateway.bearer)
    const { organization } = (await me.json()) as { organization: { id: OrganizationId } }
    const targets = createTargets({
      store,
      sealer: createSealer(loadMasterSecrets(undefined, folder)),
      clock: systemClock,
      guard: createAddressGuard({ allowCidrs: [], allowLoopback: true }),
      defaults: defaultSettings(1000),
    })
    const input = { slug, upstream, settings: { ca } }
    await targets.create(organization.id, input, { kind: 'operator' })
    await until(async () => {
      const { targets: known } = (await (await gateway.call('', gateway.bearer)).json()) as {
        targets: { slug: string }[]
      }
      return known.some((one) => one.slug === slug)
    })
  }

  async function ask(slug: string): Promise<string> {
    const answer = await gateway.call(`/${slug}/x`, gateway.bearer)
    const text = await answer.text()
    return answer.headers.get('intercept-refused') ?? `${answer.status} ${text}`
  }

  test('is believed when the authority of its target vouches for its name, which the handshake says', async () => {
    const port = await serve(authority.issue('localhost'))
    await target('good', `https://localhost:${port}`, authority.cert)
    assert.equal(await ask('good'), '200 over TLS')
    assert.deepEqual(asked.at(-1), { name: 'localhost', host: `localhost:${port}` })
  })

  for (const [what, slug, certificate, host, ca] of [
    ['nobody vouches for', 'unknown', authority.issue('localhost'), 'localhost', undefined],
    [
      'another authority vouches for',
      'stranger',
      stranger.issue('localhost'),
      'localhost',
      authority.cert,
    ],
    ['has another name', 'renamed', authority.issue('other.test'), 'localhost', authority.cert],
    [
      'is called by an address that its certificate does not have',
      'literal',
      authority.issue('localhost'),
      '127.0.0.1',
      authority.cert,
    ],
    [
      'has a certificate that has ended',
      'ended',
      authority.issue('localhost', true),
      'localhost',
      authority.cert,
    ],
  ] as const) {
    test(`one that ${what} is 502 upstream_unreachable and sees no request`, async () => {
      const port = await serve(certificate)
      await target(slug, `https://${host}:${port}`, ca)
      const before = asked.length
      assert.equal(await ask(slug), 'upstream_unreachable')
      assert.equal(asked.length, before)
    })
  }
})
