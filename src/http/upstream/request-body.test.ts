import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTurn } from '../../timers.ts'
import { turnReads } from '../message/end-of-turn.ts'
import { SharedBuffer } from '../message/shared-buffer.ts'
import type { BodySink, Exchange } from '../server/exchange.ts'
import type { UpstreamConnection } from './connection.ts'
import { RequestBody, type BodyOwner } from './request-body.ts'

/** Begins the body of a request whose head has been handled, and notes what is sent with the request's head. */
function bodyOf(contentLength: number) {
  const begun: string[] = []
  const owner: BodyOwner = {
    bodyBytes: 100,
    injectedName: undefined,
    begin: (body, ended) => begun.push(`${body.toString('latin1')} ${ended}`),
    beginElsewhere: () => assert.fail('the connection is open'),
    bodyChunk: () => undefined,
    bodyTooLarge: () => undefined,
    bodyFailed: (error) => assert.fail(String(error)),
    bodyFlows: () => undefined,
    bodyEnded: () => undefined,
  }
  let sink: BodySink | undefined
  const exchange = {
    contentLength,
    bodyIsAtHand: false,
    readBody: (given: BodySink) => (sink = given),
  } as unknown as Exchange
  const connection = { alive: true } as unknown as UpstreamConnection
  const body = new RequestBody({ exchange, connection, owner, headHeld: true })
  const shared = new SharedBuffer()
  const reader = {
    hasWaiting: false,
    mayWait: true,
    take: (bytes: Buffer) => sink?.data(bytes) ?? true,
  }
  return {
    body,
    begun,
    read: (text: string) => turnReads.add(reader, shared, shared.bytes.write(text)),
  }
}

test('a body that is read in the turn after its head leaves together with the head', async () => {
  await nextTurn()
  const { begun, read } = bodyOf(4)
  read('body')
  await nextTurn()
  assert.deepEqual(begun, ['body true'])
})

test('a head whose body does not come soon leaves alone', async () => {
  await nextTurn()
  const { begun } = bodyOf(4)
  await nextTurn()
  assert.deepEqual(begun, [])
  await nextTurn()
  assert.deepEqual(begun, [' false'])
})

test('a head that waits for its body is not sent once the call is over', async () => {
  await nextTurn()
  const { body, begun } = bodyOf(4)
  body.stop()
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  assert.deepEqual(begun, [])
})
