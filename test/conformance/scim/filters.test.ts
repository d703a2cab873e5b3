import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import { directoryForTests, type ScimReply, type TestDirectory } from './directory.ts'

for (const engine of engines) {
  describe(`filters and orders of the RFC on ${engine}`, () => {
    let directory: TestDirectory
    let users: ScimReply['body'][] = []
    before(async () => {
      directory = await directoryForTests(engine)
      const email = (value: string, type: string, primary: boolean) => ({ value, type, primary })
      users = [
        await directory.addUser({
          title: 'Captain',
          emails: [email('z@x.test', 'work', false), email('a@x.test', 'home', true)],
        }),
        await directory.addUser({ title: 'Émile 100%', emails: [{ value: 'M@x.test' }] }),
        await directory.addUser({ active: false }),
      ]
      await directory.call('PUT', `/Users/${users[2].id}`, { ...users[2], nickName: 'Third' })
      users[2] = (await directory.call('GET', `/Users/${users[2].id}`)).body
    })
    after(async () => await directory[Symbol.asyncDispose]())

    const listed = async (search: Record<string, string>): Promise<ScimReply> =>
      await directory.call('GET', `/Users?${new URLSearchParams(search).toString()}`)

    /** Returns the indexes of the users that a filter selects, in the order of the response: '02' for two of three. */
    async function found(filter: string, more: Record<string, string> = {}): Promise<string> {
      const { status, body } = await listed({ filter, ...more })
      assert.equal(status, 200, `${filter}: ${JSON.stringify(body)}`)
      return body.Resources.map((each: { id: string }) =>
        users.findIndex(({ id }) => id === each.id),
      ).join('')
    }

    test('RFC 7643 3.1: id and every part of meta answer to every operator', async () => {
      const [first, second, third] = [users[0], users[1], users[2]]
      const place = first.meta.location as string
      const middle = place.indexOf('/Users/') + 3
      const cases: readonly (readonly [string, string])[] = [
        [`id eq "${second.id}"`, '1'],
        [`id ne "${second.id}"`, '02'],
        [`id sw "mem_"`, '012'],
        [`id ew "${second.id.slice(-12)}"`, '1'],
        [`id co "${second.id.slice(5)}"`, '1'],
        [`id gt "${first.id}"`, '12'],
        [`id ge "${second.id}"`, '12'],
        [`id lt "${second.id}"`, '0'],
        [`id le "${second.id}"`, '01'],
        [`meta.location eq "${place}"`, '0'],
        [`meta.location ne "${place}"`, '12'],
        [`meta.location eq "https://elsewhere.example/Users/${first.id}"`, ''],
        [`meta.location sw "http"`, '012'],
        [`meta.location sw "${place.slice(0, -1)}"`, '0'],
        [`meta.location sw "gopher"`, ''],
        [`meta.location ew "${place.slice(-9)}"`, '0'],
        [`meta.location ew "${place.slice(middle)}"`, '0'],
        [`meta.location co "/Users/"`, '012'],
        [`meta.location co "${place.slice(middle, -1)}"`, '0'],
        [`meta.location gt "${place}"`, '12'],
        [`meta.location lt "zzz"`, '012'],
        [`meta.location gt "zzz"`, ''],
        [`meta.location pr`, '012'],
        [`meta.version eq "${third.meta.version.replaceAll('"', '\\"')}"`, '2'],
        [`meta.version ne "${third.meta.version.replaceAll('"', '\\"')}"`, '01'],
        [`meta.version sw "W/"`, '012'],
        [`meta.version co "/"`, '012'],
        [`meta.version gt "${first.meta.version.replaceAll('"', '\\"')}"`, '2'],
        [`meta.resourceType eq "User"`, '012'],
        [`meta.resourceType sw "Gr"`, ''],
        [`meta.created eq "${third.meta.created}"`, '2'],
        [`meta.created le "${second.meta.created}"`, '01'],
        [`meta.lastModified gt "${second.meta.lastModified}"`, '2'],
        [`meta.lastModified ne "${third.meta.lastModified}"`, '01'],
        ['meta pr', '012'],
      ]
      for (const [filter, wanted] of cases) assert.equal(await found(filter), wanted, filter)
    })

    test('RFC 7644 3.4.2.2: value paths take every operator, and booleans take eq and ne', async () => {
      for (const [filter, wanted] of [
        ['emails[type eq "work" and value sw "z"]', '0'],
        ['emails[type eq "work" and value sw "a"]', ''],
        ['emails[type ne "work"]', '01'],
        ['emails[not (type eq "work")]', '01'],
        ['emails[not (not (type eq "work"))]', '0'],
        ['emails[type eq "home" or value eq "m@x.test"]', '01'],
        ['emails[type pr and primary eq true]', '0'],
        ['emails[primary ne true]', '01'],
        ['emails.primary eq true', '0'],
        ['emails.primary ne true', '012'],
        ['active ne true', '2'],
        ['active eq false', '2'],
        ['emails eq null', '2'],
        ['emails ne "m@x.test"', '02'],
        ['emails co "X.TEST" and not (title pr)', ''],
        ['title co "%"', '1'],
        ['title co "100_"', ''],
        ['title eq "émile 100%"', '1'],
        ['title sw ""', '01'],
        ['userName pr and (title eq "captain" or nickName eq "THIRD")', '02'],
        ['urn:ietf:params:scim:schemas:core:2.0:User:title ew "tain"', '0'],
      ] as const) {
        assert.equal(await found(filter), wanted, filter)
      }
    })

    test('RFC 7644 3.4.2.2: what the grammar or the types forbid is invalidFilter', async () => {
      for (const filter of [
        'userName',
        'userName eq',
        'userName is "x"',
        'userName eq 7',
        'userName eq "x',
        '(userName eq "x"',
        'userName eq "x")',
        'and userName eq "x"',
        'emails[type eq "work"',
        'active gt true',
        'active co "t"',
        'meta.created co "2026"',
        'x509Certificates.value gt "AA=="',
        'nothing eq "x"',
        'not userName eq "x"',
        'userName eq "x" userName eq "y"',
      ]) {
        const refused = await listed({ filter })
        assert.deepEqual([refused.status, refused.body.scimType], [400, 'invalidFilter'], filter)
      }
    })

    test('RFC 7644 3.4.2.3: a multi-valued attribute sorts by its primary or first value; who has none is last, or first', async () => {
      const order = async (sortBy: string, sortOrder: string): Promise<string> =>
        await found('userName pr', { sortBy, sortOrder })
      for (const sortBy of ['emails', 'emails.value']) {
        assert.equal(await order(sortBy, 'ascending'), '012')
        assert.equal(await order(sortBy, 'descending'), '210')
      }
      assert.equal(await order('title', 'ascending'), '012')
      assert.equal(await order('title', 'descending'), '210')
      assert.equal(await order('meta.created', 'descending'), '210')
      assert.equal(await order('id', 'descending'), '210')
      const unknown = await found('userName pr', { sortBy: 'nothing' })
      assert.equal(unknown, '012')
      const sideways = await listed({ sortBy: 'userName', sortOrder: 'sideways' })
      assert.deepEqual([sideways.status, sideways.body.scimType], [400, 'invalidValue'])
    })
  })
}
