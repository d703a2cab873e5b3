import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sourceOf } from '../message/source.ts'
import { createClientAddresses } from './client-address.ts'

const none = createClientAddresses({ kind: 'count', count: 0 })
const one = createClientAddresses({ kind: 'count', count: 1 })
const two = createClientAddresses({ kind: 'count', count: 2 })
const ranges = createClientAddresses({ kind: 'ranges', ranges: ['10.0.0.0/8', 'fd00::/8'] })

describe('client addresses', () => {
  test('without trusted proxies X-Forwarded-For is not believed', () => {
    assert.equal(none.of('192.0.2.1', '203.0.113.9'), '192.0.2.1')
    assert.equal(none.isTrusted('192.0.2.1'), false)
  })

  test('counting goes from the right, so that what the caller wrote is never reached', () => {
    assert.equal(one.of('10.0.0.1', '1.1.1.1, 203.0.113.9'), '203.0.113.9')
    assert.equal(two.of('10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2'), '203.0.113.9')
    assert.equal(one.of('10.0.0.1', undefined), '10.0.0.1')
  })

  test('ranges: the first address from the right that is no proxy', () => {
    assert.equal(ranges.of('10.0.0.1', '1.1.1.1, 203.0.113.9, 10.9.9.9'), '203.0.113.9')
    assert.equal(ranges.of('203.0.113.1', '1.1.1.1'), '203.0.113.1')
    assert.equal(ranges.of('fd00::1', '2001:db8::1'), '2001:db8::1')
    assert.equal(ranges.of('10.0.0.1', '10.0.0.2'), '10.0.0.1')
  })

  for (const garbage of [
    '',
    'unknown',
    '1.1.1.1, x',
    '_hidden',
    '[::1',
    '1.2.3.4:x',
    'a,b,c',
    ',,,',
    '%',
    '10.0.0.1 2.2.2.2',
  ]) {
    test(`authentik CVE-2024-47070: "${garbage}" leaves the peer as the address`, () => {
      assert.equal(one.of('10.0.0.1', garbage), '10.0.0.1')
      assert.equal(ranges.of('10.0.0.1', garbage), '10.0.0.1')
    })
  }

  test('ports, brackets and mapped forms are folded', () => {
    assert.equal(one.of('10.0.0.1', '203.0.113.9:4711'), '203.0.113.9')
    assert.equal(one.of('10.0.0.1', '[2001:db8::1]:4711'), '2001:db8::1')
    assert.equal(one.of('10.0.0.1', '::ffff:203.0.113.9'), '203.0.113.9')
  })

  test('a source is an IPv4 address or a /64, however it is written (CVE-2026-45364)', () => {
    assert.equal(sourceOf('192.0.2.1'), '192.0.2.1')
    assert.equal(sourceOf('::ffff:192.0.2.1'), '192.0.2.1')
    const spellings = [
      '2001:db8:0:1::1',
      '2001:DB8:0000:0001::ffff',
      '2001:db8::1:a:b:c:d',
      '2001:db8:0:1:2:3:4:5',
    ]
    assert.deepEqual(new Set(spellings.map(sourceOf)), new Set(['2001:db8:0:1::/64']))
    assert.notEqual(sourceOf('2001:db8:0:2::1'), sourceOf('2001:db8:0:1::1'))
    assert.equal(sourceOf('::1'), '0:0:0:0::/64')
  })
})
