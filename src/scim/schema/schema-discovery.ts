import { attribute, type Attribute, type Schema } from './attributes.ts'

type Part = readonly [
  name: string,
  type: Attribute['type'],
  description: string,
  ...marks: ('required' | 'multiValued')[],
]

/** The schema of `/ServiceProviderConfig` (RFC 7643 section 5, RFC 9865 section 4). */
export const providerConfigSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  name: 'Service Provider Configuration',
  description: 'What this service does of SCIM.',
  attributes: [
    fixed(['documentationUri', 'reference', 'The address of the guide.']),
    group('patch', 'PATCH.', [supported()]),
    group('bulk', 'Bulk.', [
      supported(),
      ['maxOperations', 'integer', 'The most operations of one request.', 'required'],
      ['maxPayloadSize', 'integer', 'The most bytes of one request.', 'required'],
    ]),
    group('filter', 'Filters.', [
      supported(),
      ['maxResults', 'integer', 'The most resources of one page.', 'required'],
    ]),
    group('changePassword', 'Changing passwords.', [supported()]),
    group('sort', 'Sorting.', [supported()]),
    group('etag', 'ETags.', [supported()]),
    {
      ...group('pagination', 'Paging (RFC 9865), answered when it is asked for by name.', [
        ['cursor', 'boolean', 'Whether cursors are supported.', 'required'],
        ['index', 'boolean', 'Whether indexes are supported.', 'required'],
        ['defaultPaginationMethod', 'string', 'What is used when nothing is asked for.'],
        ['defaultPageSize', 'integer', 'Resources of a page when no count is asked for.'],
        ['maxPageSize', 'integer', 'The most resources of a page.'],
        ['cursorTimeout', 'integer', 'Seconds for which a cursor stays good.'],
      ]),
      required: false,
      returned: 'request',
    },
    {
      ...group('authenticationSchemes', 'How to authenticate.', [
        ['type', 'string', 'The scheme.', 'required'],
        ['name', 'string', 'Its name.', 'required'],
        ['description', 'string', 'What it is.', 'required'],
        ['specUri', 'reference', 'Its specification.'],
        ['documentationUri', 'reference', 'Its guide.'],
        ['primary', 'boolean', 'Whether it is preferred.'],
      ]),
      multiValued: true,
    },
  ],
}

/** The schema of `/ResourceTypes` (RFC 7643 section 6). */
export const resourceTypeSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  name: 'ResourceType',
  description: 'A kind of resource.',
  attributes: [
    fixed(['id', 'string', 'The id of the kind.']),
    fixed(['name', 'string', 'The name of the kind.', 'required']),
    fixed(['description', 'string', 'What it is.']),
    fixed(['endpoint', 'reference', 'Its address below the base address.', 'required']),
    fixed(['schema', 'reference', 'The URN of its schema.', 'required']),
    {
      ...group('schemaExtensions', 'Its extensions.', [
        ['schema', 'reference', 'The URN of the extension.', 'required'],
        ['required', 'boolean', 'Whether each resource must carry it.', 'required'],
      ]),
      required: false,
      multiValued: true,
    },
  ],
}

const attributeParts: readonly Part[] = [
  ['name', 'string', 'The name.'],
  ['type', 'string', 'The type of its values.'],
  ['multiValued', 'boolean', 'Whether it may have several values.'],
  ['description', 'string', 'What it is.'],
  ['required', 'boolean', 'Whether it must be given.'],
  ['caseExact', 'boolean', 'Whether upper and lower case differ.'],
  ['mutability', 'string', 'Who may change it.'],
  ['returned', 'string', 'When it is answered.'],
  ['uniqueness', 'string', 'Within what its values are unique.'],
]
const listParts = [
  fixed(['canonicalValues', 'string', 'Suggested values.', 'multiValued']),
  fixed(['referenceTypes', 'string', 'What a reference may point to.', 'multiValued']),
]

/** The schema of `/Schemas` (RFC 7643 section 7). */
export const schemaSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  name: 'Schema',
  description: 'The description of a schema.',
  attributes: [
    fixed(['id', 'string', 'The URN of the schema.', 'required']),
    fixed(['name', 'string', 'The name of the schema.']),
    fixed(['description', 'string', 'What it is for.']),
    {
      ...fixed(['attributes', 'complex', 'The attributes.', 'required', 'multiValued']),
      subAttributes: [
        ...attributeParts.map(fixed),
        ...listParts,
        {
          ...fixed([
            'subAttributes',
            'complex',
            'The parts of a complex attribute.',
            'multiValued',
          ]),
          subAttributes: [...attributeParts.map(fixed), ...listParts],
        },
      ],
    },
  ],
}

function supported(): Part {
  return ['supported', 'boolean', 'Whether it is supported.', 'required']
}

function group(name: string, description: string, parts: readonly Part[]): Attribute {
  return {
    ...fixed([name, 'complex', description, 'required']),
    subAttributes: parts.map(fixed),
  }
}

function fixed([name, type, description, ...marks]: Part): Attribute {
  return attribute[type](name, description, {
    mutability: 'readOnly',
    required: marks.includes('required'),
    multiValued: marks.includes('multiValued'),
  })
}
