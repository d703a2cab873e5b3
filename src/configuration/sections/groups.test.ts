import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeForTests } from '../../../test/harness/store.ts'
import { createId } from '../../ids.ts'
import { organizations } from '../../store/index.ts'
import { groupSection } from './groups.ts'

const waiting = 30

test('an apply of many groups that the directory has not sent yet lists the groups that it has once', async () => {
  await using opened = await storeForTests('sqlite')
  const id = createId('org')
  const fields = { id, slug: 'acme', name: 'Acme', plan: 'enterprise' } as const
  await opened.store.transaction(async (tx) => await organizations.insert(tx, fields))
  let listings = 0
  const query = new Proxy(opened.store.query, {
    get(target, name, receiver) {
      if (name !== 'selectFrom') return Reflect.get(target, name, receiver) as unknown
      return (table: 'directory_group') => {
        if (table === 'directory_group') listings += 1
        return target.selectFrom(table)
      }
    },
  })
  const scene = {
    organization: { id },
    services: { store: { ...opened.store, query } },
    actor: { kind: 'operator' },
  }
  for (let group = 0; group < waiting; group++) {
    const wanted = { name: `Group ${group}`, entry: { role: 'viewer' } }
    assert.equal(await groupSection.put(wanted as never, scene as never), undefined)
  }
  assert.equal(listings, 1)
})
