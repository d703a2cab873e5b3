import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstOwner } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'

const at = '/organizations/acme/keys'

test('a key is found by its name, id, hint and public id, also after a rotation and when it is revoked', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const found = async (search: string): Promise<string[]> => {
    const { json } = await owner.call(`GET ${at}?search=${encodeURIComponent(search)}`)
    return json.items.map(({ id }: { id: string }) => id)
  }
  for (const scheme of ['x-api-key', 'bearer']) {
    const name = `found by ${scheme}`
    const { key, secret } = (await owner.call(`POST ${at}`, { name, scheme })).json
    const [, , publicId = ''] = String(secret).split('_')
    const all = [name, key.id, key.hint, publicId, String(key.hint).split('…')[0] ?? '']
    for (const text of all) assert.deepEqual(await found(text), [key.id], text)
    await owner.call(`POST ${at}/${key.id}/rotate`, { overlap_seconds: 0 })
    await owner.call(`POST ${at}/${key.id}/revoke`)
    for (const text of all) assert.deepEqual(await found(text), [key.id], text)
    assert.deepEqual(await found(`${String(key.hint).slice(0, 9)}aaaaaaaa_…aaaa`), [])
  }
})
