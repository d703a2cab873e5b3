/** The properties of an attribute: those of RFC 7643 section 7, and two of our own (`isKept` and `isIndexed`). */
export interface Attribute {
  readonly name: string
  readonly type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'integer' | 'complex'
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  /** Whether a required attribute keeps its current value when a request omits or removes it. */
  readonly isKept?: boolean
  /** Whether its values are keys of a database index, whose entries have a maximum size. */
  readonly isIndexed?: boolean
  readonly caseExact: boolean
  readonly mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly'
  readonly returned: 'always' | 'never' | 'default' | 'request'
  readonly uniqueness: 'none' | 'server' | 'global'
  readonly canonicalValues?: readonly string[]
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly Attribute[]
}

/** A schema of RFC 7643: a URN and its attributes. */
export interface Schema {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly Attribute[]
}

/** A resource type: its address, its schema and the one extension it may have. */
export interface ResourceType {
  readonly name: 'User' | 'Group'
  readonly endpoint: '/Users' | '/Groups'
  readonly description: string
  readonly schema: Schema
  readonly extension: Schema | undefined
}

/** The result of resolving an attribute path: a core or extension attribute and perhaps one of its sub-attributes. */
export interface Target {
  readonly extension: Schema | undefined
  readonly attribute: Attribute
  readonly sub: Attribute | undefined
}

type Options = Partial<Omit<Attribute, 'name' | 'type' | 'description'>>

type MakeAttribute = (name: string, description: string, options?: Options) => Attribute

/** Creates attributes by type, with the defaults of RFC 7643 section 2.2. */
export const attribute: Readonly<Record<Attribute['type'], MakeAttribute>> = {
  string: ofType('string'),
  boolean: ofType('boolean'),
  dateTime: ofType('dateTime'),
  integer: ofType('integer'),
  complex: ofType('complex'),
  // Sections 2.3.6 and 2.3.7: binary values and references are case-exact.
  binary: ofType('binary', { caseExact: true }),
  reference: ofType('reference', { caseExact: true }),
}

function ofType(type: Attribute['type'], defaults: Options = {}): MakeAttribute {
  return (name, description, options = {}) => ({
    name,
    type,
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...defaults,
    ...options,
  })
}

const metaParts = ['resourceType', 'location', 'version'].map((name) =>
  attribute[name === 'location' ? 'reference' : 'string'](name, `The ${name} of the resource.`, {
    caseExact: true,
    mutability: 'readOnly',
  }),
)
const metaTimes = ['created', 'lastModified'].map((name) =>
  attribute.dateTime(name, `The time of ${name}.`, { mutability: 'readOnly' }),
)

/** The attributes that all resources share and no schema lists (RFC 7643 section 3.1). */
const commonAttributes: readonly Attribute[] = [
  attribute.reference('schemas', 'The schemas of the resource.', {
    multiValued: true,
    returned: 'always',
    caseExact: false,
  }),
  attribute.string('id', 'The identifier, made by the service.', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute.string('externalId', 'The identifier in the directory.', {
    caseExact: true,
    isIndexed: true,
  }),
  attribute.complex('meta', 'Data about the resource.', {
    mutability: 'readOnly',
    subAttributes: [...metaParts, ...metaTimes],
  }),
]

const byName = new WeakMap<readonly Attribute[], Map<string, Attribute>>()

/** Finds an attribute in a list by its name in upper or lower case (RFC 7643 section 2.1). */
export function findAttribute(list: readonly Attribute[], name: string): Attribute | undefined {
  let names = byName.get(list)
  if (names === undefined) {
    names = new Map(list.map((each) => [each.name.toLowerCase(), each]))
    byName.set(list, names)
  }
  return names.get(name.toLowerCase())
}

/** Finds a top-level attribute of the core schema, or one that all resources share. */
export function findCore(type: ResourceType, name: string): Attribute | undefined {
  return findAttribute(type.schema.attributes, name) ?? findAttribute(commonAttributes, name)
}

/** Returns the attributes that all resources share, followed by the attributes of the core schema. */
export function coreAttributes(type: ResourceType): readonly Attribute[] {
  return [...commonAttributes, ...type.schema.attributes]
}

/** Finds the extension with this URN, in upper or lower case. */
export function findExtension(type: ResourceType, urn: string): Schema | undefined {
  return type.extension?.id.toLowerCase() === urn.toLowerCase() ? type.extension : undefined
}

/** Finds the extension attribute for a bare name that the core lacks; Entra sends `department` this way. */
export function findBare(type: ResourceType, name: string): Attribute | undefined {
  if (type.extension === undefined || findCore(type, name) !== undefined) return undefined
  return findAttribute(type.extension.attributes, name)
}

/**
 * Resolves `name`, `name.part`, `urn:…:name.part` (RFC 7644 section 3.10), and bare names of extension attributes that
 * the core lacks; undefined if there is no such attribute.
 */
export function resolveTarget(type: ResourceType, path: string): Target | undefined {
  const { schema, rest } = splitUrn(type, path)
  if (schema === undefined) return undefined
  const dot = rest.indexOf('.')
  const name = dot === -1 ? rest : rest.slice(0, dot)
  const isQualified = schema === type.extension || rest !== path
  const bare = isQualified ? undefined : findBare(type, name)
  const extension = schema === type.extension || bare !== undefined ? type.extension : undefined
  const found =
    bare ??
    (extension === undefined ? findCore(type, name) : findAttribute(extension.attributes, name))
  if (found === undefined) return undefined
  if (dot === -1) return { extension, attribute: found, sub: undefined }
  const sub = findAttribute(found.subAttributes ?? [], rest.slice(dot + 1))
  return sub === undefined ? undefined : { extension, attribute: found, sub }
}

/** Whether a path or name begins with the URN of an unknown extension. */
export function isForeign(type: ResourceType, path: string): boolean {
  return splitUrn(type, path.trim()).schema === undefined && findExtension(type, path) === undefined
}

function splitUrn(type: ResourceType, path: string): { schema: Schema | undefined; rest: string } {
  const folded = path.toLowerCase()
  for (const schema of [type.schema, type.extension]) {
    // Entra also puts a dot between the schema and its attribute.
    const mark = schema === undefined ? undefined : path[schema.id.length]
    if (schema === undefined || (mark !== ':' && mark !== '.')) continue
    if (folded.startsWith(schema.id.toLowerCase())) {
      return { schema, rest: path.slice(schema.id.length + 1) }
    }
  }
  return { schema: folded.startsWith('urn:') ? undefined : type.schema, rest: path }
}
