import type { DirectoryGroupInput } from '../directory/index.ts'
import type { DirectoryGroupRecord } from '../store/index.ts'
import { etagOf, groupDocument, resourceOf } from './documents.ts'
import {
  checkVersion,
  showResource,
  type ScimAnswer,
  type ScimDeps,
  type ScimRequest,
} from './exchange.ts'
import { readPatch } from './patch/patch-request.ts'
import { applyPatch } from './patch/patch.ts'
import { queryOfUrl } from './query.ts'
import { groupTexts, singleText } from './rendering.ts'
import { bodyOf, callerOf, Resources, withoutId } from './resources.ts'
import { readResource } from './schema/resource.ts'
import { groupType } from './schema/schema-group.ts'
import { groupData, groupInput, memberChanges } from './stored.ts'

/** Performs the operations on groups (RFC 7643 section 4.2). */
export class GroupResources extends Resources<DirectoryGroupRecord> {
  readonly type = groupType
  readonly #deps: ScimDeps

  constructor(deps: ScimDeps) {
    super(deps.directories.groups)
    this.#deps = deps
  }

  async create(request: ScimRequest): Promise<ScimAnswer> {
    const input = groupInput(readResource(groupType, bodyOf(request)))
    const group = await this.#deps.directories.groups.create(callerOf(request), input)
    return this.show(request, 201, group)
  }

  async replace(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const input = groupInput(readResource(groupType, bodyOf(request)))
    return this.show(request, 200, await this.#change(request, id, () => input))
  }

  async patch(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const operations = readPatch(bodyOf(request))
    const group = await this.#change(request, id, (current) => {
      const patched = applyPatch(groupType, resourceOf(current), operations)
      const data = groupData(withoutId(patched.resource))
      return { data, members: memberChanges(patched.members) }
    })
    const { attributes, excludedAttributes } = queryOfUrl(request.query)
    // Entra expects no body; a client that names attributes expects to see them (RFC 7644 section 3.5.2).
    if (attributes.length === 0 && excludedAttributes.length === 0) {
      return { status: 204, headers: { ETag: etagOf(group) } }
    }
    return this.show(request, 200, group)
  }

  protected show(request: ScimRequest, status: number, group: DirectoryGroupRecord): ScimAnswer {
    const projection = this.projectionOf(request)
    const showing = { request, projection }
    const document = groupDocument(group, undefined, request.base)
    const { body: _, ...answer } = showResource(status, document, projection)
    return {
      ...answer,
      pieces: () => singleText(groupTexts(this.#deps, [group], showing)),
    }
  }

  async #change(
    request: ScimRequest,
    id: string,
    next: (current: DirectoryGroupRecord) => DirectoryGroupInput,
  ): Promise<DirectoryGroupRecord> {
    const { groups } = this.#deps.directories
    return await groups.change(callerOf(request), id, (current) => {
      checkVersion(request, etagOf(current))
      return next(current)
    })
  }
}
