import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { keys, targets, type Db, type Grant, type KeyEdit, type KeyInput } from '../store/index.ts'
import { everyField } from './key-fields/key-json.ts'

const maxNameLength = 100

export type { KeyInput } from '../store/index.ts'

/** Returns the validated input; throws `invalid_input` for values that make no sense. */
export function checkInput(input: KeyInput, nowMs: number): KeyEdit {
  const name = input.name.trim()
  if (name === '' || name.length > maxNameLength) {
    throw new Problem('invalid_input', `A key's name has 1 to ${maxNameLength} characters.`)
  }
  if (input.expiresAt !== undefined && !(input.expiresAt > nowMs)) {
    throw new Problem('invalid_input', 'A key ends in the future.')
  }
  for (const [, field] of everyField) {
    const value = input[field.column]
    if (value !== undefined) field.check?.(value)
  }
  return keys.editOf({ ...input, name })
}

/**
 * Throws `invalid_input` for grants of targets that do not exist, because such a grant would allow nothing. Grants that
 * the key already had may stay. While the organization has no targets, any target may be granted.
 */
export async function checkGrantedTargets(
  db: Db,
  { organizationId, grants, before = [] }: GrantCheck,
): Promise<void> {
  if (grants === undefined) return
  const slugs = new Set((await targets.slugs(db, organizationId)).values())
  if (slugs.size === 0) return
  for (const { target } of before) slugs.add(target)
  const missing = grants.find(({ target }) => !slugs.has(target))
  if (missing === undefined) return
  const known = [...slugs].toSorted().slice(0, 10).join(', ')
  throw new Problem(
    'invalid_input',
    `There is no target "${missing.target.slice(0, 63)}" to grant; there are ${known}.`,
  )
}

interface GrantCheck {
  readonly organizationId: OrganizationId
  readonly grants: readonly Grant[] | undefined
  readonly before?: readonly Grant[] | undefined
}
