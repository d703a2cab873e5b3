import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DirectoryGroupRecord } from '../store/index.ts'
import type { ScimDeps, ScimRequest } from './exchange.ts'
import { projectionOf } from './query.ts'
import { groupTexts, listText } from './rendering.ts'
import { groupType } from './schema/schema-group.ts'

const request = { base: 'https://x.test/scim/v2', principal: { organizationId: 'org_1' } }
const projection = projectionOf(groupType, { attributes: [], excludedAttributes: [] })

function group(at: number, members: number): DirectoryGroupRecord {
  return {
    id: `grp_${at}`,
    organizationId: 'org_1',
    displayNameKey: `g${at}`,
    attributes: JSON.stringify({ displayName: `G${at}` }),
    externalId: undefined,
    position: at,
    role: undefined,
    members,
    version: 1,
    createdAt: 0,
    modifiedAt: 0,
  }
}

/**
 * Renders groups. Returns the number of members rendered for each group, and the highest number of members read in any
 * one turn of the event loop.
 */
async function render(groups: readonly DirectoryGroupRecord[]) {
  let inTurn = 0
  let most = 0
  let isDone = false
  const read = (ids: readonly string[]): string[] => {
    inTurn += ids.length
    most = Math.max(most, inTurn)
    return [...ids]
  }
  const member = (at: number): string => `mem_${String(at).padStart(9, '0')}`
  const deps = {
    directories: {
      groups: {
        listMembers: async (_: string, ids: readonly string[]) =>
          new Map(
            groups
              .filter(({ id }) => ids.includes(id))
              .map(({ id, members }) => [
                id,
                read(Array.from({ length: members }, (__, at) => member(at))),
              ]),
          ),
        memberPage: async ({ members }: DirectoryGroupRecord, after: string, limit: number) => {
          const from = after === '' ? 0 : Number(after.slice(4)) + 1
          const length = Math.max(0, Math.min(limit, members - from))
          return read(Array.from({ length }, (_, at) => member(from + at)))
        },
      },
    },
  }
  const turns = (): void => {
    inTurn = 0
    if (!isDone) setImmediate(turns)
  }
  setImmediate(turns)
  const showing = { request: request as unknown as ScimRequest, projection }
  const texts = groupTexts(deps as unknown as ScimDeps, groups, showing)
  let text = ''
  for await (const part of listText({ totalResults: groups.length }, texts)) text += part
  isDone = true
  const parsed = JSON.parse(text) as { Resources: { members?: { value: string }[] }[] }
  return { most, lengths: parsed.Resources.map(({ members }) => members?.length ?? 0) }
}

describe('rendering groups', () => {
  test('one group of 50,000 members is never read nor written in one turn of the event loop', async () => {
    const { most, lengths } = await render([group(1, 50_000)])
    assert.deepEqual(lengths, [50_000])
    assert.ok(most <= 1000, String(most))
  })

  test('a thousand groups of all sizes are whole, and no turn reads more than a thousand members', async () => {
    const sizes = Array.from({ length: 1000 }, (_, at) => (at % 97 === 0 ? 2500 : at % 41))
    const { most, lengths } = await render(sizes.map((size, at) => group(at, size)))
    assert.deepEqual(lengths, sizes)
    assert.ok(most <= 1000, String(most))
  })

  test('no groups, and groups at the edges of a page', async () => {
    for (const sizes of [[], [0], [999], [1000], [1001], [1000, 1, 1000], [2000], [2001]]) {
      assert.deepEqual((await render(sizes.map((size, at) => group(at, size)))).lengths, sizes)
    }
  })
})
