import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startUpstream } from './upstream.ts'

test('the demo’s API sends as many events as asked for, even none', async () => {
  await using upstream = await startUpstream()
  for (const count of [0, 1]) {
    const answer = await fetch(`${upstream.url}/events?count=${count}`)
    assert.equal(answer.headers.get('content-type'), 'text/event-stream')
    const events = (await answer.text()).split('\n').filter((line) => line.startsWith('id: '))
    assert.equal(events.length, count)
  }
})
