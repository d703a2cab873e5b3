import { attribute, type ResourceType, type Schema } from './attributes.ts'
import { enterpriseSchema, userSchema } from './schema-user.ts'

/** The Group of RFC 7643 section 4.2; its members are users. */
export const groupSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A group of users of the directory.',
  attributes: [
    // `server` describes the rule best: a name may repeat only between groups whose external ids are set and differ.
    attribute.string('displayName', 'The name of the group.', {
      required: true,
      uniqueness: 'server',
      isIndexed: true,
    }),
    attribute.complex('members', 'The users in the group.', {
      multiValued: true,
      subAttributes: [
        attribute.string('value', 'The id of the user.', {
          mutability: 'immutable',
          caseExact: true,
        }),
        attribute.reference('$ref', 'The address of the user.', {
          mutability: 'immutable',
          referenceTypes: ['User'],
        }),
        attribute.string('type', 'The kind of member.', {
          mutability: 'immutable',
          canonicalValues: ['User'],
        }),
      ],
    }),
  ],
}

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'The people of the organization.',
  schema: userSchema,
  extension: enterpriseSchema,
}

export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'The groups of the directory.',
  schema: groupSchema,
  extension: undefined,
}
