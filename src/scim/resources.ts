import type { DirectoryUser } from '../directory/index.ts'
import type { DirectoryGroupRecord } from '../store/index.ts'
import type { ResourceType } from './schema/attributes.ts'
import { etagOf, groupDocument, resourceOf, userDocument } from './documents.ts'
import { ScimError } from './protocol/errors.ts'
import {
  checkVersion,
  isUnchanged,
  showResource,
  type ScimAnswer,
  type ScimDeps,
  type ScimRequest,
} from './exchange.ts'
import type { Json } from './protocol/json.ts'
import { readPatch } from './patch/patch-request.ts'
import { applyPatch } from './patch/patch.ts'
import { projectionOf, queryOfUrl } from './query.ts'
import { readResource, type Resource } from './schema/resource.ts'
import { groupTexts, holdsTooMany, singleText } from './rendering.ts'
import { groupType, userType } from './schema/schema-group.ts'
import { groupData, groupInput, memberChanges, userInput } from './stored.ts'

/** What can be done with resources of one type. */
export interface ResourceDoor {
  readonly type: ResourceType
  create(request: ScimRequest): Promise<ScimAnswer>
  read(request: ScimRequest, id: string): Promise<ScimAnswer>
  replace(request: ScimRequest, id: string): Promise<ScimAnswer>
  patch(request: ScimRequest, id: string): Promise<ScimAnswer>
  remove(request: ScimRequest, id: string): Promise<ScimAnswer>
}

/** Users: RFC 7643 section 4.1. */
export function createUserDoor(deps: ScimDeps): ResourceDoor {
  const { users } = deps.directories

  function show(request: ScimRequest, status: number, user: DirectoryUser): ScimAnswer {
    const projection = projectionOf(userType, queryOfUrl(request.query))
    return showResource(status, userDocument(user, request.base), projection)
  }

  async function change(
    request: ScimRequest,
    id: string,
    next: (current: DirectoryUser) => Resource,
  ): Promise<DirectoryUser> {
    const { organizationId } = request.principal
    return await users.change(
      organizationId,
      id,
      (current) => {
        checkVersion(request, etagOf(current))
        // Taking the word `active` away deactivates nobody and brings nobody back.
        return userInput(withoutId(next(current)), current.active)
      },
      request.actor,
    )
  }

  return {
    type: userType,
    async create(request) {
      const resource = { active: true, ...readResource(userType, bodyOf(request)) }
      const wish = userInput(resource, true)
      const user = await users.create(request.principal.organizationId, wish, request.actor)
      return show(request, 201, user)
    },
    async read(request, id) {
      const user = await users.get(request.principal.organizationId, id)
      if (isUnchanged(request, etagOf(user))) return notModified(etagOf(user))
      return show(request, 200, user)
    },
    async replace(request, id) {
      const resource = readResource(userType, bodyOf(request))
      const user = await change(request, id, (current) => ({
        // Who says nothing about `active` does not mean to bring anybody back.
        active: current.active,
        ...resource,
      }))
      return show(request, 200, user)
    },
    async patch(request, id) {
      const operations = readPatch(bodyOf(request))
      const user = await change(
        request,
        id,
        (current) => applyPatch(userType, resourceOf(current), operations).resource,
      )
      return show(request, 200, user)
    },
    async remove(request, id) {
      const { organizationId } = request.principal
      const check = (current: DirectoryUser): void => checkVersion(request, etagOf(current))
      await users.remove(organizationId, id, check, request.actor)
      return { status: 204 }
    },
  }
}

/** Groups: RFC 7643 section 4.2. */
export function createGroupDoor(deps: ScimDeps): ResourceDoor {
  const { groups } = deps.directories

  function show(request: ScimRequest, status: number, group: DirectoryGroupRecord): ScimAnswer {
    const projection = projectionOf(groupType, queryOfUrl(request.query))
    const showing = { request, projection }
    const document = groupDocument(group, undefined, request.base)
    const { body: _, ...answer } = showResource(status, document, projection)
    return {
      ...answer,
      pieces: {
        isLarge: holdsTooMany([group], showing),
        text: () => singleText(groupTexts(deps, [group], showing)),
      },
    }
  }

  return {
    type: groupType,
    async create(request) {
      const wish = groupInput(readResource(groupType, bodyOf(request)))
      const group = await groups.create(request.principal.organizationId, wish, request.actor)
      return show(request, 201, group)
    },
    async read(request, id) {
      const group = await groups.get(request.principal.organizationId, id)
      if (isUnchanged(request, etagOf(group))) return notModified(etagOf(group))
      return show(request, 200, group)
    },
    async replace(request, id) {
      const wish = groupInput(readResource(groupType, bodyOf(request)))
      const { organizationId } = request.principal
      const next = (current: DirectoryGroupRecord) => {
        checkVersion(request, etagOf(current))
        return wish
      }
      const group = await groups.change(organizationId, id, next, request.actor)
      return show(request, 200, group)
    },
    async patch(request, id) {
      const operations = readPatch(bodyOf(request))
      const next = (current: DirectoryGroupRecord) => {
        checkVersion(request, etagOf(current))
        const patched = applyPatch(groupType, resourceOf(current), operations)
        const data = groupData(withoutId(patched.resource))
        return { data, members: memberChanges(patched.members) }
      }
      const { organizationId } = request.principal
      const group = await groups.change(organizationId, id, next, request.actor)
      const { attributes, excludedAttributes } = queryOfUrl(request.query)
      // Entra wants no body; whoever names attributes wants to see them (RFC 7644 section 3.5.2).
      if (attributes.length === 0 && excludedAttributes.length === 0) {
        return { status: 204, headers: { ETag: etagOf(group) } }
      }
      return show(request, 200, group)
    },
    async remove(request, id) {
      const { organizationId } = request.principal
      const check = (current: DirectoryGroupRecord): void => checkVersion(request, etagOf(current))
      await groups.remove(organizationId, id, check, request.actor)
      return { status: 204 }
    },
  }
}

function bodyOf(request: ScimRequest): Json {
  if (request.body === undefined) throw new ScimError(400, 'invalidSyntax', 'The body is missing.')
  return request.body
}

function withoutId(resource: Resource): Resource {
  const { id: _, ...rest } = resource
  return rest
}

function notModified(etag: string): ScimAnswer {
  return { status: 304, headers: { ETag: etag } }
}
