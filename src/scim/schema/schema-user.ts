import { attribute, type Attribute, type Schema } from './attributes.ts'

/**
 * The core User of RFC 7643 section 4.1 without `password`: nobody signs in with one here, so passwords are dropped.
 */
export const userSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'User Account: a person of the organization.',
  attributes: [
    attribute.string('userName', 'The name by which the directory knows the user.', {
      required: true,
      uniqueness: 'server',
      isIndexed: true,
    }),
    attribute.complex('name', "The parts of the user's name.", {
      subAttributes: [
        attribute.string('formatted', 'The full name as it is displayed.'),
        attribute.string('familyName', 'The family name.'),
        attribute.string('givenName', 'The given name.'),
        attribute.string('middleName', 'The middle names.'),
        attribute.string('honorificPrefix', 'A title before the name.'),
        attribute.string('honorificSuffix', 'A suffix after the name.'),
      ],
    }),
    attribute.string('displayName', 'The name to show.'),
    attribute.string('nickName', 'The casual name.'),
    attribute.reference('profileUrl', "The address of the user's profile.", {
      referenceTypes: ['external'],
    }),
    attribute.string('title', 'The job title.'),
    attribute.string('userType', 'The relation to the organization, such as Employee.'),
    attribute.string('preferredLanguage', 'The preferred languages, as in Accept-Language.'),
    attribute.string('locale', 'The locale for dates and numbers.'),
    attribute.string('timezone', 'The time zone by its IANA name.'),
    // Every user is either active or not, so `active` can't be unassigned; a PUT or PATCH without `active` leaves it
    // unchanged.
    attribute.boolean('active', 'Whether the user may use the service.', {
      required: true,
      isKept: true,
    }),
    values('emails', 'E-mail addresses.', { types: ['work', 'home', 'other'], isIndexed: true }),
    values('phoneNumbers', 'Phone numbers.', {
      types: ['work', 'home', 'mobile', 'fax', 'pager', 'other'],
    }),
    values('ims', 'Instant-messaging addresses.', {
      types: ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo'],
    }),
    values('photos', 'Addresses of pictures.', {
      type: 'reference',
      types: ['photo', 'thumbnail'],
    }),
    attribute.complex('addresses', 'Postal addresses.', {
      multiValued: true,
      subAttributes: [
        attribute.string('formatted', 'The full address as it is displayed.'),
        attribute.string('streetAddress', 'Street, house number, further lines.'),
        attribute.string('locality', 'The city.'),
        attribute.string('region', 'The state or region.'),
        attribute.string('postalCode', 'The postal code.'),
        attribute.string('country', 'The country.'),
        typePart(['work', 'home', 'other']),
        primaryPart(),
      ],
    }),
    attribute.complex('groups', 'The groups the user is in; changed through the groups.', {
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute.string('value', 'The id of the group.', {
          mutability: 'readOnly',
          caseExact: true,
        }),
        attribute.reference('$ref', 'The address of the group.', {
          mutability: 'readOnly',
          referenceTypes: ['Group'],
        }),
        attribute.string('display', 'The name of the group.', { mutability: 'readOnly' }),
        attribute.string('type', 'How the user belongs to the group.', {
          mutability: 'readOnly',
          canonicalValues: ['direct'],
        }),
      ],
    }),
    values('entitlements', 'Entitlements; kept, without effect here.'),
    values('roles', 'Roles in the directory; kept, without effect here.'),
    values('x509Certificates', 'Certificates, DER in Base64.', { type: 'binary' }),
  ],
}

/** The enterprise extension of RFC 7643 section 4.3. */
export const enterpriseSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'What a company knows of its people.',
  attributes: [
    attribute.string('employeeNumber', 'The number within the company.'),
    attribute.string('costCenter', 'The cost center.'),
    attribute.string('organization', 'The name of the organization.'),
    attribute.string('division', 'The division.'),
    attribute.string('department', 'The department.'),
    attribute.complex('manager', "The user's manager.", {
      subAttributes: [
        attribute.string('value', 'The id of the manager.', { caseExact: true }),
        attribute.reference('$ref', 'The address of the manager.', { referenceTypes: ['User'] }),
        attribute.string('displayName', 'The name of the manager.', { mutability: 'readOnly' }),
      ],
    }),
  ],
}

// Creates a multi-valued attribute with the usual parts (RFC 7643 section 2.4).
function values(
  name: string,
  description: string,
  form: { type?: Attribute['type']; types?: readonly string[]; isIndexed?: boolean } = {},
): Attribute {
  const { type = 'string', types, isIndexed } = form
  const references = type === 'reference' ? { referenceTypes: ['external'] } : {}
  const indexed = isIndexed === true ? { isIndexed } : {}
  return attribute.complex(name, description, {
    multiValued: true,
    subAttributes: [
      attribute[type]('value', 'The value.', { ...references, ...indexed }),
      attribute.string('display', 'The value as it is displayed.'),
      typePart(types),
      primaryPart(),
    ],
  })
}

function typePart(types?: readonly string[]): Attribute {
  return attribute.string(
    'type',
    'What the value is for.',
    types === undefined ? {} : { canonicalValues: types },
  )
}

function primaryPart(): Attribute {
  return attribute.boolean('primary', 'Whether this is the preferred value; true at most once.')
}
