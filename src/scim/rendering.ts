// Renders responses as JSON text in pieces, so that neither a large page nor a group of a hundred thousand members
// blocks the event loop.
import type { DirectoryGroupRecord } from '../store/index.ts'
import { nextTurn } from '../timers.ts'
import { groupDocument, memberDocuments, userDocument } from './documents.ts'
import type { ScimDeps, ScimRequest } from './exchange.ts'
import type { Projection } from './schema/projection.ts'

/** Resources as JSON texts, each complete or, if it is large, in pieces. */
type Texts = AsyncGenerator<string | AsyncIterable<string>>

interface Showing {
  readonly request: ScimRequest
  readonly projection: Projection
}

const usersInBatch = 200
const userCharactersInTurn = 200_000
const membersInTurn = 1000

/** Renders users: reads them in batches, and renders a few in each turn of the event loop. */
export async function* userTexts(
  deps: ScimDeps,
  ids: readonly string[],
  { request, projection }: Showing,
): Texts {
  const { users } = deps.directories
  const { organizationId } = request.principal
  const withGroups = projection.shows('groups')
  let inTurn = 0
  for (let at = 0; at < ids.length; at += usersInBatch) {
    const batch = ids.slice(at, at + usersInBatch)
    for (const user of await users.getAll(organizationId, batch, withGroups)) {
      if (inTurn > userCharactersInTurn) {
        await nextTurn()
        inTurn = 0
      }
      const text = JSON.stringify(projection.apply(userDocument(user, request.base)))
      // Reading the attributes takes time too, even if few of them are shown.
      inTurn += user.attributes.length + text.length
      yield text
    }
  }
}

/** Renders groups; the members of small groups are read together, the members of a large group in pages. */
export async function* groupTexts(
  deps: ScimDeps,
  groups: readonly DirectoryGroupRecord[],
  showing: Showing,
): Texts {
  const { request, projection } = showing
  for (const batch of batchesOf(groups)) {
    const [first] = batch
    if (first !== undefined && first.members > membersInTurn && projection.shows('members')) {
      yield largeGroup(deps, first, showing)
      await nextTurn()
      continue
    }
    const members = projection.shows('members')
      ? await deps.directories.groups.listMembers(request.principal.organizationId, idsOf(batch))
      : undefined
    for (const group of batch) {
      const document = groupDocument(group, members?.get(group.id), request.base)
      yield JSON.stringify(projection.apply(document))
    }
    await nextTurn()
  }
}

/** Renders a list response, whose number of resources is known only at the end. */
export async function* listText(
  head: Record<string, unknown>,
  resources: Texts,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"Resources":[`
  let count = 0
  for await (const resource of resources) {
    yield count === 0 ? '' : ','
    count += 1
    if (typeof resource === 'string') yield resource
    else yield* resource
  }
  yield `],"itemsPerPage":${count}}`
}

/** Flattens the text of a single resource into pieces. */
export async function* singleText(resources: Texts): AsyncGenerator<string> {
  for await (const resource of resources) {
    if (typeof resource === 'string') yield resource
    else yield* resource
  }
}

// Pages are in id order, so every member who stays in the group meanwhile appears exactly once.
async function* largeGroup(
  deps: ScimDeps,
  group: DirectoryGroupRecord,
  { request, projection }: Showing,
): AsyncGenerator<string> {
  const head = projection.apply(groupDocument(group, undefined, request.base))
  yield `${JSON.stringify(head).slice(0, -1)},"members":[`
  let after = ''
  for (;;) {
    const page = await deps.directories.groups.memberPage(group, after, membersInTurn)
    const last = page.at(-1)
    if (last === undefined) break
    const { members } = projection.apply({ members: memberDocuments(page, request.base) })
    yield `${after === '' ? '' : ','}${JSON.stringify(members).slice(1, -1)}`
    if (page.length < membersInTurn) break
    after = last
    await nextTurn()
  }
  yield ']}'
}

// Divides groups into batches, each with few enough members for one turn of the event loop. A group with more members
// is a batch of its own.
function* batchesOf(
  groups: readonly DirectoryGroupRecord[],
): Generator<readonly DirectoryGroupRecord[]> {
  let batch: DirectoryGroupRecord[] = []
  let members = 0
  for (const group of groups) {
    // The group itself counts as one, because rendering takes time even without members.
    const cost = group.members + 1
    if (batch.length > 0 && members + cost > membersInTurn) {
      yield batch
      batch = []
      members = 0
    }
    batch.push(group)
    members += cost
  }
  if (batch.length > 0) yield batch
}

function idsOf(groups: readonly DirectoryGroupRecord[]): string[] {
  return groups.map(({ id }) => id)
}
