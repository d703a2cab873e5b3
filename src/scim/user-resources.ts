import type { Directories, DirectoryUser } from '../directory/index.ts'
import { etagOf, resourceOf, userDocument } from './documents.ts'
import { checkVersion, showResource, type ScimAnswer, type ScimRequest } from './exchange.ts'
import { readPatch } from './patch/patch-request.ts'
import { applyPatch } from './patch/patch.ts'
import { bodyOf, callerOf, Resources, withoutId } from './resources.ts'
import { readResource, type Resource } from './schema/resource.ts'
import { userType } from './schema/schema-group.ts'
import { userInput } from './stored.ts'

/** Performs the operations on users (RFC 7643 section 4.1). */
export class UserResources extends Resources<DirectoryUser> {
  readonly type = userType
  readonly #users: Directories['users']

  constructor(users: Directories['users']) {
    super(users)
    this.#users = users
  }

  async create(request: ScimRequest): Promise<ScimAnswer> {
    const resource = { active: true, ...readResource(userType, bodyOf(request)) }
    const user = await this.#users.create(callerOf(request), userInput(resource, { active: true }))
    return this.show(request, 201, user)
  }

  async replace(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const resource = readResource(userType, bodyOf(request))
    return await this.#change(request, id, (current) => ({
      // A PUT without `active` does not reactivate a deactivated user.
      active: current.active,
      ...resource,
    }))
  }

  async patch(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const operations = readPatch(bodyOf(request))
    return await this.#change(
      request,
      id,
      (current) => applyPatch(userType, resourceOf(current), operations).resource,
    )
  }

  protected show(request: ScimRequest, status: number, user: DirectoryUser): ScimAnswer {
    return showResource(status, userDocument(user, request.base), this.projectionOf(request))
  }

  async #change(
    request: ScimRequest,
    id: string,
    next: (current: DirectoryUser) => Resource,
  ): Promise<ScimAnswer> {
    const user = await this.#users.change(callerOf(request), id, (current) => {
      checkVersion(request, etagOf(current))
      // Removing the attribute `active` neither deactivates nor reactivates the user.
      return userInput(withoutId(next(current)), current)
    })
    return this.show(request, 200, user)
  }
}
