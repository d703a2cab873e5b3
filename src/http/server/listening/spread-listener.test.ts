import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fewestOf } from './spread-listener.ts'

const idle = { open: 1, isLate: false }
const busy = { open: 9, isLate: false }
const late = { open: 0, isLate: true }
const laterStill = { open: 5, isLate: true }

test('the process with the fewest open connections gets the next one, and the first of several', () => {
  assert.equal(fewestOf([busy, idle, { ...idle }]), idle)
})

test('a process that is late to receive its connections comes after all that are not', () => {
  assert.equal(fewestOf([late, busy]), busy)
  assert.equal(fewestOf([busy, late]), busy)
})

test('if all processes are late, the one with the fewest connections comes first', () => {
  assert.equal(fewestOf([laterStill, late]), late)
})

test('no process gets a connection if none takes connections', () => {
  assert.equal(fewestOf([]), undefined)
})
