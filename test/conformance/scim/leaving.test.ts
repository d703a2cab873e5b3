import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { auditEntries, organizations } from '../../../src/store/index.ts'
import { memberOf, personWith, withStore, type Person } from '../../harness/person.ts'
import { engines } from '../../harness/store.ts'
import { upstreamForTests, type TestUpstream } from '../../harness/upstream.ts'
import {
  commandLine,
  directoryForTests,
  patchUrn,
  userUrn,
  type TestDirectory,
} from './directory.ts'

for (const engine of engines) {
  describe(`leaving and coming back on ${engine}`, () => {
    let directory: TestDirectory
    let upstream: TestUpstream
    let otherNode: { readonly port: number; readonly stop: () => Promise<void> }
    before(async () => {
      directory = await directoryForTests(engine)
      upstream = await upstreamForTests((request, response) => {
        if (request.url?.startsWith('/stream') !== true) return void response.end('ok')
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: here\n\n')
      })
      await commandLine(
        ['target', 'set', 'acme', 'echo', '--upstream', upstream.url],
        directory.product,
      )
      otherNode = await directory.product.anotherNode()
    })
    after(async () => {
      await otherNode.stop()
      await directory[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    })

    /** Adds a person who is signed in, has a personal key and is managed by the directory. */
    async function employee(role: 'owner' | 'developer' = 'developer') {
      const email = directory.unique()
      const person = await memberOf(directory.product, 'acme', { email, role })
      const issued = await person.call('POST /organizations/acme/keys', {
        name: 'mine',
        scheme: 'bearer',
        personal: true,
      })
      assert.equal(issued.status, 201, issued.text)
      const user = await directory.addUser({ userName: email })
      return { person, key: issued.json.secret as string, user, email }
    }

    async function callWith(key: string, path = '/hello', port = directory.product.port) {
      return await fetch(`http://127.0.0.1:${port}/api/v1/intercept/echo${path}`, {
        headers: { authorization: `Bearer ${key}` },
      })
    }

    function atOtherNode(person: Person): Person {
      const at = `http://127.0.0.1:${otherNode.port}`
      return personWith(directory.product.baseUrl, person.cookie, at)
    }

    /** Checks, right after the response to a deactivation, that no node accepts the person any more. */
    async function assertGone(person: Person, key: string): Promise<void> {
      assert.equal((await person.call('GET /me')).status, 401)
      const refused = await callWith(key)
      assert.equal(refused.status, 401)
      await refused.text()
      // A node that did not confirm the change in time does not trust its cache: it reads the database or responds 503.
      for (let tries = 1; ; tries++) {
        const session = await atOtherNode(person).call('GET /me')
        const call = await callWith(key, '/hello', otherNode.port)
        await call.text()
        const statuses = [session.status, call.status]
        assert.ok(
          statuses.every((status) => status === 401 || status === 503),
          `another node answers ${statuses.join(', ')} after the deactivation was answered`,
        )
        if (statuses.every((status) => status === 401)) return
        assert.ok(tries < 100, 'another node never heard of the deactivation')
        await wait(100)
      }
    }

    /** Opens streams at both nodes, with the person's session and with their personal key. */
    async function openStreams(person: Person, key: string): Promise<Map<string, Response>> {
      const streams = new Map<string, Response>()
      const ports = { 'this node': directory.product.port, 'the other node': otherNode.port }
      for (const [node, port] of Object.entries(ports)) {
        const live = `http://127.0.0.1:${port}/api/v1/organizations/acme/calls/live`
        const headers = { cookie: `__Host-session=${person.cookie}` }
        streams.set(`the session's live calls at ${node}`, await fetch(live, { headers }))
        streams.set(`the key's stream at ${node}`, await callWith(key, '/stream', port))
      }
      for (const [name, { status, headers }] of streams) {
        assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'], name)
      }
      return streams
    }

    const ways = {
      'PATCH active: false': async ({ id }: { id: string }) =>
        await directory.call('PATCH', `/Users/${id}`, {
          schemas: [patchUrn],
          Operations: [{ op: 'replace', value: { active: false } }],
        }),
      'PUT active: false': async ({ id, userName }: { id: string; userName: string }) =>
        await directory.call('PUT', `/Users/${id}`, {
          schemas: [userUrn],
          userName,
          active: false,
        }),
      DELETE: async ({ id }: { id: string }) => await directory.call('DELETE', `/Users/${id}`),
    }

    for (const [name, leave] of Object.entries(ways)) {
      test(`after ${name} no session and no personal key of that person opens anything, on any node, and open streams of both are cut`, async (t) => {
        const { person, key, user } = await employee()
        assert.equal((await callWith(key)).status, 200)
        assert.equal((await person.call('GET /me')).status, 200)
        const streams = await openStreams(person, key)
        const cuts = new Map<string, number>()
        const reading = [...streams].map(async ([name, stream]) => {
          await stream.text().catch(() => 'cut')
          cuts.set(name, performance.now())
        })
        assert.equal(cuts.size, 0)
        const answer = await leave(user)
        const answeredAt = performance.now()
        assert.ok(answer.status < 300, JSON.stringify(answer.body))
        await assertGone(person, key)
        await Promise.race([Promise.all(reading), wait(30_000, undefined, { ref: false })])
        for (const stream of streams.keys()) assert.ok(cuts.has(stream), `${stream} was not cut`)
        for (const [stream, at] of cuts) {
          t.diagnostic(`${stream} ended ${Math.round(at - answeredAt)} ms after the answer`)
        }
        await withStore(directory.product, async (store) => {
          const organization = await organizations.findBySlug(store, 'acme')
          const entries = await auditEntries.listFrom(store, {
            organizationId: organization!.id,
            fromSequence: 0,
            limit: 1000,
          })
          const own = entries.filter((entry) => entry.subject_id === user.id)
          assert.ok(own.some((entry) => entry.action === 'member.deactivated'))
          assert.ok(own.some((entry) => entry.action === 'directory_user.deprovisioned'))
        })
      })
    }

    test('who comes back has the same id and keys again, and signs in anew', async () => {
      const { person, key, user, email } = await employee()
      await ways['PATCH active: false'](user)
      await assertGone(person, key)
      const back = await directory.call('PATCH', `/Users/${user.id}`, {
        schemas: [patchUrn],
        Operations: [{ op: 'Replace', path: 'active', value: 'True' }],
      })
      assert.deepEqual([back.status, back.body.active, back.body.userName], [200, true, email])
      assert.equal((await callWith(key)).status, 200)
      assert.equal((await person.call('GET /me')).status, 401)
    })

    test('a deprovision is never refused, not even of the last owner', async () => {
      const { person, key, user } = await employee('owner')
      const answer = await ways['PATCH active: false'](user)
      assert.equal(answer.status, 200)
      await assertGone(person, key)
    })
  })
}
