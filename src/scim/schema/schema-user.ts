import { attribute, type Attribute, type Schema } from './attributes.ts'

/** The core User of RFC 7643 section 4.1, without `password`: passwords are dropped, nobody signs in with one here. */
export const userSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'User Account: a person of the organization.',
  attributes: [
    attribute('userName', 'string', 'The name by which the directory knows the user.', {
      required: true,
      uniqueness: 'server',
    }),
    attribute('name', 'complex', "The parts of the user's name.", {
      subAttributes: [
        attribute('formatted', 'string', 'The full name as it is displayed.'),
        attribute('familyName', 'string', 'The family name.'),
        attribute('givenName', 'string', 'The given name.'),
        attribute('middleName', 'string', 'The middle names.'),
        attribute('honorificPrefix', 'string', 'A title before the name.'),
        attribute('honorificSuffix', 'string', 'A suffix after the name.'),
      ],
    }),
    attribute('displayName', 'string', 'The name to show.'),
    attribute('nickName', 'string', 'The casual name.'),
    attribute('profileUrl', 'reference', "The address of the user's profile.", {
      referenceTypes: ['external'],
    }),
    attribute('title', 'string', 'The job title.'),
    attribute('userType', 'string', 'The relation to the organization, such as Employee.'),
    attribute('preferredLanguage', 'string', 'The preferred languages, as in Accept-Language.'),
    attribute('locale', 'string', 'The locale for dates and numbers.'),
    attribute('timezone', 'string', 'The time zone by its IANA name.'),
    // Every user has a value, so it cannot be unassigned; who does not send it leaves it as it is.
    attribute('active', 'boolean', 'Whether the user may use the service.', {
      required: true,
      isKept: true,
    }),
    values('emails', 'string', 'E-mail addresses.', ['work', 'home', 'other']),
    values('phoneNumbers', 'string', 'Phone numbers.', [
      'work',
      'home',
      'mobile',
      'fax',
      'pager',
      'other',
    ]),
    values('ims', 'string', 'Instant-messaging addresses.', [
      'aim',
      'gtalk',
      'icq',
      'xmpp',
      'msn',
      'skype',
      'qq',
      'yahoo',
    ]),
    values('photos', 'reference', 'Addresses of pictures.', ['photo', 'thumbnail']),
    attribute('addresses', 'complex', 'Postal addresses.', {
      multiValued: true,
      subAttributes: [
        attribute('formatted', 'string', 'The full address as it is displayed.'),
        attribute('streetAddress', 'string', 'Street, house number, further lines.'),
        attribute('locality', 'string', 'The city.'),
        attribute('region', 'string', 'The state or region.'),
        attribute('postalCode', 'string', 'The postal code.'),
        attribute('country', 'string', 'The country.'),
        typePart(['work', 'home', 'other']),
        primaryPart(),
      ],
    }),
    attribute('groups', 'complex', 'The groups the user is in; changed through the groups.', {
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute('value', 'string', 'The id of the group.', {
          mutability: 'readOnly',
          caseExact: true,
        }),
        attribute('$ref', 'reference', 'The address of the group.', {
          mutability: 'readOnly',
          referenceTypes: ['Group'],
        }),
        attribute('display', 'string', 'The name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'string', 'How the user belongs to the group.', {
          mutability: 'readOnly',
          canonicalValues: ['direct'],
        }),
      ],
    }),
    values('entitlements', 'string', 'Entitlements; kept, without effect here.'),
    values('roles', 'string', 'Roles in the directory; kept, without effect here.'),
    values('x509Certificates', 'binary', 'Certificates, DER in Base64.'),
  ],
}

/** The enterprise extension of RFC 7643 section 4.3. */
export const enterpriseSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'What a company knows of its people.',
  attributes: [
    attribute('employeeNumber', 'string', 'The number within the company.'),
    attribute('costCenter', 'string', 'The cost center.'),
    attribute('organization', 'string', 'The name of the organization.'),
    attribute('division', 'string', 'The division.'),
    attribute('department', 'string', 'The department.'),
    attribute('manager', 'complex', "The user's manager.", {
      subAttributes: [
        attribute('value', 'string', 'The id of the manager.', { caseExact: true }),
        attribute('$ref', 'reference', 'The address of the manager.', { referenceTypes: ['User'] }),
        attribute('displayName', 'string', 'The name of the manager.', { mutability: 'readOnly' }),
      ],
    }),
  ],
}

// The usual parts of a multi-valued attribute (RFC 7643 section 2.4).
function values(
  name: string,
  type: Attribute['type'],
  description: string,
  types?: readonly string[],
): Attribute {
  const references = type === 'reference' ? { referenceTypes: ['external'] } : {}
  return attribute(name, 'complex', description, {
    multiValued: true,
    subAttributes: [
      attribute('value', type, 'The value.', references),
      attribute('display', 'string', 'The value as it is displayed.'),
      typePart(types),
      primaryPart(),
    ],
  })
}

function typePart(types?: readonly string[]): Attribute {
  return attribute(
    'type',
    'string',
    'What the value is for.',
    types === undefined ? {} : { canonicalValues: types },
  )
}

function primaryPart(): Attribute {
  return attribute('primary', 'boolean', 'Whether this is the preferred value; true at most once.')
}
