import type { DirectoryCaller } from '../directory/index.ts'
import type { ResourceType } from './schema/attributes.ts'
import { etagOf, type Versioned } from './documents.ts'
import { ScimError } from './protocol/errors.ts'
import { checkVersion, isUnchanged, type ScimAnswer, type ScimRequest } from './exchange.ts'
import type { Json } from './protocol/json.ts'
import { projectionOf, queryOfUrl } from './query.ts'
import type { Projection } from './schema/projection.ts'
import type { Resource } from './schema/resource.ts'

/** The directory's operations on one kind of resource. */
interface Stored<Item> {
  get(organizationId: DirectoryCaller['organizationId'], id: string): Promise<Item>
  remove(caller: DirectoryCaller, id: string, check: (current: Item) => void): Promise<void>
}

/**
 * Performs the operations on resources of one type; the subclasses for users and groups parse and render the bodies.
 */
export abstract class Resources<Item extends Versioned = Versioned> {
  abstract readonly type: ResourceType
  readonly #stored: Stored<Item>

  constructor(stored: Stored<Item>) {
    this.#stored = stored
  }

  abstract create(request: ScimRequest): Promise<ScimAnswer>
  abstract replace(request: ScimRequest, id: string): Promise<ScimAnswer>
  abstract patch(request: ScimRequest, id: string): Promise<ScimAnswer>
  protected abstract show(request: ScimRequest, status: number, item: Item): ScimAnswer

  async read(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const item = await this.#stored.get(request.principal.organizationId, id)
    const etag = etagOf(item)
    if (isUnchanged(request, etag)) return { status: 304, headers: { ETag: etag } }
    return this.show(request, 200, item)
  }

  async remove(request: ScimRequest, id: string): Promise<ScimAnswer> {
    const check = (current: Item): void => checkVersion(request, etagOf(current))
    await this.#stored.remove(callerOf(request), id, check)
    return { status: 204 }
  }

  protected projectionOf(request: ScimRequest): Projection {
    return projectionOf(this.type, queryOfUrl(request.query))
  }
}

export function callerOf({ principal, actor }: ScimRequest): DirectoryCaller {
  return { organizationId: principal.organizationId, actor }
}

export function bodyOf({ body }: ScimRequest): Json {
  if (body !== undefined) return body
  throw new ScimError(400, 'The body is missing.', { scimType: 'invalidSyntax' })
}

/** Returns the resource without its id, which is stored in a separate column. */
export function withoutId(resource: Resource): Resource {
  const { id: _, ...rest } = resource
  return rest
}
