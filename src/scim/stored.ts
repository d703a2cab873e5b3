import type { DirectoryGroupInput, DirectoryUserInput, MemberChange } from '../directory/index.ts'
import type { DirectoryGroupData, DirectoryUserData } from '../store/index.ts'
import {
  coreAttributes,
  findAttribute,
  type Attribute,
  type ResourceType,
} from './schema/attributes.ts'
import { leadingName } from './filter/condition.ts'
import { refuse } from './protocol/errors.ts'
import { foldCase, foldText, parseTime } from './schema/fold.ts'
import { matches } from './filter/match.ts'
import { memberIds, type MemberStep } from './patch/patch-members.ts'
import { listAt, partsAt, textPart, type Resource } from './schema/resource.ts'
import { groupSchema, groupType, userType } from './schema/schema-group.ts'
import type { Value, Values } from './schema/values.ts'

// Bounds the work of one request and the memory of one page, however often a client adds to a user.
const maxUserCharacters = 64 * 1024

/** Converts a user resource into the forms for storage, for search and for finding the person. */
export function userInput(
  given: Resource,
  before: { readonly active: boolean; readonly attributes?: string },
): DirectoryUserInput {
  const active = (given['active'] ?? before.active) !== false
  // Store the effective value, so that every response shows it.
  const resource: Resource = { ...given, active }
  const attributes = JSON.stringify(resource)
  checkLength(attributes, before.attributes)
  const userName = textPart(resource, 'userName') ?? ''
  const externalId = textPart(resource, 'externalId')
  const emails = listAt(resource, 'emails').flatMap((email) =>
    typeof email === 'string' ? [] : (textPart(email, 'value') ?? []),
  )
  const data: DirectoryUserData = {
    userNameKey: foldCase(userName),
    externalId,
    active,
    attributes,
    folded: JSON.stringify(foldResource(userType, resource)),
    emailKeys: [...new Set(emails.map(foldCase))],
  }
  const email = primaryEmail(resource) ?? (userName.includes('@') ? userName : undefined)
  return {
    data,
    person: {
      name: nameOf(resource) ?? userName,
      email,
      adoptionKeys: [...new Set([foldCase(userName), ...data.emailKeys])],
      externalId,
      active,
    },
  }
}

// Beyond the limit, only `active` may make the text longer: it must always be possible to deactivate a user.
function checkLength(attributes: string, before = '{}'): void {
  if (attributes.length <= maxUserCharacters) return
  if (lengthWithoutActive(attributes) <= lengthWithoutActive(before)) return
  throw refuse('invalidValue', `The user has more than ${maxUserCharacters} characters as JSON.`)
}

function lengthWithoutActive(attributes: string): number {
  const { active: _, ...others } = JSON.parse(attributes) as Resource
  return JSON.stringify(others).length
}

/** Converts a group resource, without its members, into the forms used for storage and search. */
export function groupData(resource: Resource): DirectoryGroupData {
  const { members: _, ...stored } = resource
  return {
    displayNameKey: foldCase(textPart(resource, 'displayName') ?? ''),
    externalId: textPart(resource, 'externalId'),
    attributes: JSON.stringify(stored),
    folded: JSON.stringify(foldResource(groupType, stored)),
  }
}

/** Converts a POST or PUT of a group, whose members replace any earlier ones. */
export function groupInput(resource: Resource): DirectoryGroupInput {
  const attribute = findAttribute(groupSchema.attributes, 'members')
  const ids = attribute === undefined ? [] : memberIds(attribute, [...listAt(resource, 'members')])
  return { data: groupData(resource), members: [{ kind: 'replace', ids }] }
}

/** Converts the steps of a PATCH into changes to the stored members. */
export function memberChanges(steps: readonly MemberStep[]): MemberChange[] {
  return steps.map((step) =>
    step.kind === 'removeWhere'
      ? { kind: 'removeWhere', fits: (id) => matches({ value: id, type: 'User' }, step.filter) }
      : step,
  )
}

function nameOf(resource: Resource): string | undefined {
  const name = partsAt(resource, 'name')
  const parts = [textPart(name, 'givenName'), textPart(name, 'familyName')]
  const joined = parts.filter((part) => part !== undefined && part.trim() !== '').join(' ')
  const candidates = [textPart(resource, 'displayName'), textPart(name, 'formatted'), joined]
  return candidates.find((text) => text !== undefined && text.trim() !== '')
}

function primaryEmail(resource: Resource): string | undefined {
  const emails = listAt(resource, 'emails').filter((email) => typeof email !== 'string')
  const chosen =
    emails.find((email) => email['primary'] === true) ??
    emails.find((email) => email['type'] === 'work') ??
    emails[0]
  return chosen && textPart(chosen, 'value')
}

type Folded = string | number | { [name: string]: Folded } | Folded[]

/** Folds a resource for filters: lower case where case does not matter, booleans and times as numbers. */
function foldResource(type: ResourceType, resource: Resource): Record<string, Folded> {
  const folded = foldParts(coreAttributes(type), resource)
  const { extension } = type
  if (extension !== undefined && resource[extension.id] !== undefined) {
    folded[extension.id] = foldParts(extension.attributes, partsAt(resource, extension.id))
  }
  const leading = leadingValues(type, resource)
  if (Object.keys(leading).length > 0) folded[leadingName] = leading
  return folded
}

// Returns the value by which each multi-valued attribute is sorted: the primary one, otherwise the first (RFC 7644
// section 3.4.2.3).
function leadingValues(type: ResourceType, resource: Resource): Record<string, Folded> {
  const leading: Record<string, Folded> = {}
  for (const attribute of type.schema.attributes) {
    const part = findAttribute(attribute.subAttributes ?? [], 'value')
    if (!attribute.multiValued || part === undefined) continue
    const list = listAt(resource, attribute.name).filter((item) => typeof item !== 'string')
    const chosen = list.find((item) => item['primary'] === true) ?? list[0]
    const value = chosen && textPart(chosen, 'value')
    if (value !== undefined) leading[attribute.name] = foldText(part, value)
  }
  return leading
}

function foldParts(attributes: readonly Attribute[], values: Values): Record<string, Folded> {
  const folded: Record<string, Folded> = {}
  for (const attribute of attributes) {
    const value = values[attribute.name]
    if (value !== undefined) folded[attribute.name] = foldValue(attribute, value)
  }
  return folded
}

function foldValue(attribute: Attribute, value: Value): Folded {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'string') {
    if (attribute.type === 'dateTime') return parseTime(value) ?? 0
    return foldText(attribute, value)
  }
  if (Array.isArray(value)) {
    return (value as readonly (string | Values)[]).map((item) => foldValue(attribute, item))
  }
  return foldParts(attribute.subAttributes ?? [], value as Values)
}
