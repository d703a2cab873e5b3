import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { isMethod, methods } from '../methods.ts'
import { keys, targets, type Db, type Grant, type KeyEdit, type KeyInput } from '../store/index.ts'
import { parseCidr } from './cidr.ts'

const maxNameLength = 100
const maxGrants = 100
const maxCidrs = 100

export type { KeyInput } from '../store/index.ts'

/** Returns the input as it may be saved; throws `invalid_input` for values that make no sense. */
export function checkInput(input: KeyInput, nowMs: number): KeyEdit {
  const name = input.name.trim()
  if (name === '' || name.length > maxNameLength) {
    throw new Problem('invalid_input', `A key's name has 1 to ${maxNameLength} characters.`)
  }
  if (input.expiresAt !== undefined && !(input.expiresAt > nowMs)) {
    throw new Problem('invalid_input', 'A key ends in the future.')
  }
  if ((input.grants?.length ?? 0) > maxGrants || (input.cidrs?.length ?? 0) > maxCidrs) {
    throw new Problem(
      'invalid_input',
      `A key has at most ${maxGrants} grants and ${maxCidrs} CIDRs.`,
    )
  }
  if (input.cidrs?.length === 0 || input.grants?.length === 0) {
    throw new Problem(
      'invalid_input',
      'Leave grants or CIDRs out to allow all; an empty list allows none.',
    )
  }
  for (const cidr of input.cidrs ?? []) parseCidr(cidr)
  for (const grant of input.grants ?? []) checkMethods(grant)
  return keys.editOf({ ...input, name })
}

/** Refuses unknown methods: a grant of a method that no call has would allow nothing. */
function checkMethods(grant: Grant): void {
  const wrong = grant.methods?.find((method) => !isMethod(method))
  if (wrong === undefined) return
  throw new Problem(
    'invalid_input',
    `"${wrong.slice(0, 20)}" is no method that can be granted; there are ${methods.join(', ')}.`,
  )
}

/**
 * Refuses grants of targets that do not exist, which would allow nothing: `invalid_input`. Grants that the key had
 * before may stay, and an organization without targets may grant the ones to come.
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
