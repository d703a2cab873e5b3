// The dashboard reserves the URLs of a new connection. They must stay the same while its form is open, because a person
// may already have registered them at the provider.
import { QueryClient, QueryObserver, type QueryObserverOptions } from '@tanstack/react-query'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { mock, test } from 'node:test'

test('reserved URLs stay while other connections change and after another sign-in', async () => {
  const file: string = join(import.meta.dirname, '../../web/src/api/sso.ts')
  const { reservationQuery } = (await import(file)) as {
    reservationQuery: (organization: string) => QueryObserverOptions
  }
  let reserved = 0
  const server = mock.method(globalThis, 'fetch', async () =>
    Response.json({ id: `reservation-${++reserved}` }),
  )
  const client = new QueryClient()
  const observer = new QueryObserver(client, reservationQuery('acme'))
  const leave = observer.subscribe(() => undefined)
  try {
    const shown = () => client.getQueryData(['acme', 'sso', 'reservation'])
    await observer.fetchOptimistic(observer.options)
    assert.deepEqual(shown(), { id: 'reservation-1' })
    for (const queryKey of [['acme', 'sso'], ['acme'], []]) {
      await client.invalidateQueries({ queryKey })
      assert.deepEqual(shown(), { id: 'reservation-1' })
    }
    assert.equal(server.mock.callCount(), 1)
    // Once a connection uses the reservation, the next connection gets URLs of its own.
    leave()
    client.removeQueries({ queryKey: ['acme', 'sso', 'reservation'] })
    const next = new QueryObserver(client, reservationQuery('acme'))
    const done = next.subscribe(() => undefined)
    await next.fetchOptimistic(next.options)
    assert.deepEqual(shown(), { id: 'reservation-2' })
    done()
  } finally {
    client.clear()
    server.mock.restore()
  }
})
