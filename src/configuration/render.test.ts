import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { systemClock } from '../clock.ts'
import { createBreath } from '../timers.ts'
import { render } from './render.ts'
import { sectionKeys, type Entry, type SectionKey } from './sections/section.ts'
import type { State } from './state.ts'

test('a file that is rendered in parts has the text of one that is rendered at once', async () => {
  const entriesOf = (count: number): Map<string, Entry> =>
    new Map(
      Array.from({ length: count }, (_, at) => [
        `thing-${at}`,
        { name: at % 7 === 0 ? `a: "b" #${at}\nsecond line` : `Thing ${at}`, grants: ['x:GET'] },
      ]),
    )
  const counts: Partial<Record<SectionKey, number>> = { targets: 100, keys: 1234, endpoints: 101 }
  const entries = Object.fromEntries(
    sectionKeys.map((key) => [key, entriesOf(counts[key] ?? 0)]),
  ) as Record<SectionKey, Map<string, Entry>>
  entries.organization = new Map([['acme', { name: 'Acme', plan: 'standard', rate_limit: null }]])
  const state = { entries } as unknown as State
  const { text, document } = await render(state, createBreath(systemClock))
  assert.ok(text === stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }))
})
