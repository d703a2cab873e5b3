import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ScimError } from '../protocol/errors.ts'
import { parseFilter } from './filter.ts'
import type { Filter } from './filter-tree.ts'
import { groupType, userType } from '../schema/schema-group.ts'

// Renders the tree as text, so that it fits into a table.
function show(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.terms.map(show).join(` ${filter.kind} `)})`
    case 'not':
      return `not ${show(filter.term)}`
    case 'present':
      return `${name(filter)} pr`
    case 'compare':
      return `${name(filter)} ${filter.operator} ${JSON.stringify(filter.value)}`
    case 'some':
      return `${name(filter)}[${show(filter.where)}]`
    case 'never':
      return 'never'
    default:
      return filter satisfies never
  }
}

function name(filter: Extract<Filter, { target: unknown }>): string {
  const { extension, attribute, sub } = filter.target
  return `${extension ? 'ext:' : ''}${attribute.name}${sub ? `.${sub.name}` : ''}`
}

const understood: Record<string, string> = {
  // The examples of RFC 7644 section 3.4.2.2.
  'userName eq "bjensen"': 'userName eq "bjensen"',
  'name.familyName co "O\'Malley"': 'name.familyName co "o\'malley"',
  'userName sw "J"': 'userName sw "j"',
  'urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"': 'userName sw "j"',
  'title pr': 'title pr',
  'meta.lastModified gt "2011-05-13T04:42:34Z"': 'meta.lastModified gt 1305261754000',
  'meta.lastModified ge "2011-05-13T04:42:34Z"': 'meta.lastModified ge 1305261754000',
  'title pr and userType eq "Employee"': '(title pr and userType eq "employee")',
  'title pr or userType eq "Intern"': '(title pr or userType eq "intern")',
  'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"':
    'schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:user"',
  'userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")':
    '(userType eq "employee" and (emails.value co "example.com" or emails.value co "example.org"))',
  'userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")':
    '(userType ne "employee" and not (emails.value co "example.com" or emails.value co "example.org"))',
  'userType eq "Employee" and (emails.type eq "work")':
    '(userType eq "employee" and emails.type eq "work")',
  'userType eq "Employee" and emails[type eq "work" and value co "@example.com"]':
    '(userType eq "employee" and emails[(type eq "work" and value co "@example.com")])',
  'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]':
    '(emails[(type eq "work" and value co "@example.com")] or ims[(type eq "xmpp" and value co "@foo.com")])',
  // `not` binds tighter than `and`, which binds tighter than `or`; parentheses group.
  'title pr or title pr and title pr': '(title pr or (title pr and title pr))',
  '(title pr or title pr) and title pr': '((title pr or title pr) and title pr)',
  'not (title pr) and title pr': '(not title pr and title pr)',
  // Names and operators match in upper and lower case; values keep their case where the schema says it matters.
  'USERNAME EQ "Bob"': 'userName eq "bob"',
  'externalId eq "Bob"': 'externalId eq "Bob"',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber eq "7"':
    'ext:employeeNumber eq "7"',
  'URN:ietf:params:scim:schemas:extension:enterprise:2.0:user:manager.value eq "x"':
    'ext:manager.value eq "x"',
  // Variants that Entra and Okta send.
  'active eq "True"': 'active eq 1',
  'active eq false': 'active eq 0',
  'emails[type eq "work"].value eq "A@b.c"': 'emails[(type eq "work" and value eq "a@b.c")]',
  'emails[primary eq true and value eq "a"]': 'emails[(primary eq 1 and value eq "a")]',
  // Microsoft's and WSO2's test suites send words without quotes.
  'userName sw O': 'userName sw "o"',
  'userName eq Bob@Acme.test and emails co 100%':
    '(userName eq "bob@acme.test" and emails.value co "100%")',
  // Entra names attributes of the enterprise extension without their URN.
  'department eq "Sales"': 'ext:department eq "sales"',
  'MANAGER eq "m1"': 'ext:manager.value eq "m1"',
  'manager.value eq "m1"': 'ext:manager.value eq "m1"',
  'name.FamilyName eq Employee and (emails.Value co example.com or emails.Value co example.org)':
    '(name.familyName eq "employee" and (emails.value co "example.com" or emails.value co "example.org"))',
  'meta.Created gt 2011-05-13T04:42:34.0000000-07:00': 'meta.created gt 1305286954000',
  'title eq null': 'not title pr',
  'title ne null': 'title pr',
  'title co ""': 'title pr',
  'userName eq "quote \\" and \\u00e9"': 'userName eq "quote \\" and é"',
  'userName eq "İ"': `userName eq ${JSON.stringify('İ'.normalize('NFC').toLowerCase())}`,
}

const refused: readonly string[] = [
  '',
  '   ',
  'userName',
  'userName eq',
  'userName eq eq',
  'eq "x"',
  'userName eq "x',
  'userName eq "x\\"',
  'userName eq "\\x"',
  'userName eq "x" and',
  'and userName eq "x"',
  'userName eq "x" userName eq "x"',
  '(userName eq "x"',
  'userName eq "x")',
  'not userName eq "x"',
  'emails[type eq "work"',
  'emails[]',
  'emails type eq "work"]',
  'userName[type eq "work"]',
  'emails[emails[type eq "x"]]',
  'password eq "x"',
  'tokenHash eq "x"',
  '__proto__ eq "x"',
  'constructor pr',
  'name.__proto__ pr',
  'name eq "x"',
  'userName eq 7',
  'userName eq true',
  'userName eq or',
  'userName eq x y',
  'meta.created gt 2011',
  'active gt true',
  'active eq "perhaps"',
  'active co "t"',
  'meta.created co "2011"',
  'meta.created gt "yesterday"',
  'x509Certificates.value gt "a"',
  'title gt null',
  'userName eq "x"; drop table user',
  "userName eq 'x'",
  'userName = "x"',
  'userName xx "x"',
  'urn:example:other:User:title pr',
  'urn:ietf:params:scim:schemas:core:2.0:User:department pr',
]

describe('the filter parser (RFC 7644 section 3.4.2.2)', () => {
  for (const [source, tree] of Object.entries(understood)) {
    test(`understands ${source}`, () => {
      assert.equal(show(parseFilter(source, userType)), tree)
    })
  }

  for (const source of refused) {
    test(`answers invalidFilter to ${JSON.stringify(source)}`, () => {
      assert.throws(() => parseFilter(source, userType), isInvalidFilter)
    })
  }

  test('depth up to 16, terms up to 64 and 2,048 characters pass, one more does not', () => {
    const deep = (levels: number): string => `${'('.repeat(levels)}title pr${')'.repeat(levels)}`
    const wide = (terms: number): string =>
      Array.from({ length: terms }, () => 'title pr').join(' or ')
    const long = (length: number): string => `title eq "${'x'.repeat(length - 11)}"`
    for (const fits of [deep(16), wide(64), long(2048)]) parseFilter(fits, userType)
    for (const over of [deep(17), wide(65), long(2049)]) {
      assert.throws(() => parseFilter(over, userType), isInvalidFilter)
    }
    // The limits on depth and on length can be changed.
    parseFilter(long(4096), userType, { depth: 16, characters: 4096 })
    parseFilter(deep(20), userType, { depth: 20 })
  })

  // test/steps.test.ts counts the steps that it takes to refuse such filters.
  test('huge and hostile filters are refused', () => {
    const hostile = [
      '('.repeat(4000),
      'not ('.repeat(4000),
      'emails['.repeat(4000),
      Array.from({ length: 3000 }, () => 'title pr').join(' and '),
      `title eq "${'\\'.repeat(1_000_000)}`,
      `${'a'.repeat(60_000)} eq "x"`,
      ' '.repeat(2000),
      `title eq "${'\\"'.repeat(1000)}`,
    ]
    for (const source of hostile) {
      assert.throws(() => parseFilter(source, userType), isInvalidFilter)
    }
  })

  test('whatever the text, the answer is a tree or invalidFilter', () => {
    const pieces = fc.constantFrom(
      'userName',
      'emails',
      '[',
      ']',
      '(',
      ')',
      'eq',
      'pr',
      'not',
      'and',
      'or',
      '"x"',
      '.value',
      '"',
    )
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join(' ')),
    )
    let accepted = 0
    fc.assert(
      fc.property(texts, (source) => {
        try {
          parseFilter(source, userType)
          accepted++
        } catch (error) {
          if (!isInvalidFilter(error)) throw error
        }
      }),
      { numRuns: 20_000 },
    )
    assert.ok(accepted > 0)
  })

  test('an unknown attribute of one type is absent when both types are searched', () => {
    assert.equal(show(parseFilter('userName eq "x"', groupType, { unknown: 'absent' })), 'never')
    assert.equal(
      show(parseFilter('emails[type eq "x"].value eq "y"', groupType, { unknown: 'absent' })),
      'never',
    )
    assert.throws(() => parseFilter('userName eq "x"', groupType), isInvalidFilter)
  })
})

function isInvalidFilter(error: unknown): boolean {
  return error instanceof ScimError && error.status === 400 && error.scimType === 'invalidFilter'
}
