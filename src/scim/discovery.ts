import type { Attribute, ResourceType, Schema } from './schema/attributes.ts'
import type { ScimDeps } from './exchange.ts'
import {
  providerConfigSchema,
  resourceTypeSchema,
  schemaSchema,
} from './schema/schema-discovery.ts'
import { groupSchema, groupType, userType } from './schema/schema-group.ts'
import { enterpriseSchema, userSchema } from './schema/schema-user.ts'
import { dayMs } from '../units.ts'

/** Page and cursor limits, as the discovery documents announce them. */
export const limits = {
  pageSize: 1000,
  defaultPageSize: 100,
  cursorTimeoutMs: dayMs,
} as const

type Json = Record<string, unknown>

/**
 * Builds the document of `/ServiceProviderConfig` (RFC 7643 section 5, RFC 9865 section 4); `base` is the URL of
 * `/scim/v2`, and `attributes` can only add `pagination`.
 */
export function providerConfig(
  deps: Pick<ScimDeps, 'limits' | 'baseUrl'>,
  base: string,
  attributes: readonly string[],
): Json {
  const guide = `${deps.baseUrl}/guides/scim`
  return {
    schemas: [providerConfigSchema.id],
    documentationUri: guide,
    patch: { supported: true },
    bulk: {
      supported: true,
      maxOperations: deps.limits.bulkOperations,
      maxPayloadSize: deps.limits.bulkBodyBytes,
    },
    filter: { supported: true, maxResults: limits.pageSize },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    ...(attributes.some(namesPagination) ? { pagination } : {}),
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'SCIM bearer token',
        description:
          'A token issued in the dashboard under SSO and SCIM, Directory; sent as a bearer token.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        documentationUri: guide,
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

// This member is returned only on request: RFC 7643 does not define it, and strict clients refuse unknown members.
const pagination = {
  cursor: true,
  index: true,
  defaultPaginationMethod: 'index',
  defaultPageSize: limits.defaultPageSize,
  maxPageSize: limits.pageSize,
  cursorTimeout: limits.cursorTimeoutMs / 1000,
}

// Whether a path names `pagination` or one of its parts, with or without the schema's URN in front (RFC 7644 section
// 3.10).
function namesPagination(path: string): boolean {
  const folded = path.toLowerCase()
  const prefix = `${providerConfigSchema.id.toLowerCase()}:`
  const name = folded.startsWith(prefix) ? folded.slice(prefix.length) : folded
  return name.split('.', 1)[0] === 'pagination'
}

/** Builds the documents of `/ResourceTypes` (RFC 7643 section 6). */
export function resourceTypeDocuments(base: string): Json[] {
  return [userType, groupType].map((type) => resourceTypeDocument(base, type))
}

/** Builds the documents of `/Schemas` (RFC 7643 section 7), including those for the discovery documents themselves. */
export function schemaDocuments(base: string): Json[] {
  return [
    userSchema,
    groupSchema,
    enterpriseSchema,
    providerConfigSchema,
    resourceTypeSchema,
    schemaSchema,
  ].map((schema) => schemaDocument(base, schema))
}

function resourceTypeDocument(base: string, type: ResourceType): Json {
  const extensions =
    type.extension === undefined ? [] : [{ schema: type.extension.id, required: false }]
  return {
    schemas: [resourceTypeSchema.id],
    id: type.name,
    name: type.name,
    description: type.description,
    endpoint: type.endpoint,
    schema: type.schema.id,
    ...(extensions.length === 0 ? {} : { schemaExtensions: extensions }),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type.name}` },
  }
}

function schemaDocument(base: string, schema: Schema): Json {
  return {
    schemas: [schemaSchema.id],
    id: schema.id,
    name: schema.name,
    description: schema.description,
    attributes: schema.attributes.map(attributeDocument),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` },
  }
}

function attributeDocument(each: Attribute): Json {
  const { subAttributes, isKept: _, isIndexed: __, ...rest } = each
  return subAttributes === undefined
    ? rest
    : { ...rest, subAttributes: subAttributes.map(attributeDocument) }
}
