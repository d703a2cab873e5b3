import type { KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import { pathAmbiguity } from './path.ts'
import { grantCovers } from './settings.ts'
import type { TargetsBySlug } from './target-cache.ts'
import type { Asked } from './asked.ts'

/**
 * Refuses with 400 `path_ambiguous` an empty or ambiguous slug, and a path that is ambiguous even for a `verbatim`
 * target.
 */
export function checkReadable(asked: Asked): void {
  const fault =
    emptyName(asked.slug) ??
    pathAmbiguity(`/${asked.slug}`, 'canonical') ??
    pathAmbiguity(asked.path, 'verbatim')
  if (fault !== undefined) throw ambiguous(fault)
}

/**
 * Returns the target if this key may call it with all of these methods. Throws 404 `target_not_found` or 403
 * `target_disabled`.
 */
export function findTarget(
  named: { readonly slug: string; readonly target: GuardedTarget | undefined },
  principal: KeyPrincipal,
  methods: readonly string[],
): GuardedTarget {
  const { slug, target } = named
  for (const method of methods) {
    if (target !== undefined && isGranted(principal, slug, method)) continue
    throw new Problem(
      'target_not_found',
      `There is no target "${slug}" for this key and ${method}.`,
    )
  }
  // Only narrows the type: the loop has already refused an unknown target, because there is at least one method.
  if (target === undefined) throw new Problem('target_not_found')
  if (target.disabled) {
    throw new Problem('target_disabled', `The target "${target.slug}" is disabled.`)
  }
  return target
}

/** Returns the targets granted to a key, even disabled ones, with the granted methods (undefined means all). */
export function reachable(
  targets: TargetsBySlug,
  principal: KeyPrincipal,
): { target: GuardedTarget; methods: readonly string[] | undefined }[] {
  const list: { target: GuardedTarget; methods: readonly string[] | undefined }[] = []
  for (const target of targets.values()) {
    if (principal.grants === undefined) {
      list.push({ target, methods: undefined })
      continue
    }
    const grants = principal.grants.filter((grant) => grant.target === target.slug)
    if (grants.length === 0) continue
    const all = grants.some((grant) => grant.methods === undefined)
    const methods = all ? undefined : [...new Set(grants.flatMap((grant) => grant.methods ?? []))]
    list.push({ target, methods })
  }
  return list
}

export function ambiguous(fault: string): Problem {
  return new Problem('path_ambiguous', `The path can be read in more than one way: ${fault}.`)
}

function emptyName(slug: string): string | undefined {
  return slug === '' ? 'it holds an empty segment' : undefined
}

function isGranted(principal: KeyPrincipal, slug: string, method: string): boolean {
  return (
    principal.grants === undefined ||
    principal.grants.some((grant) => grant.target === slug && grantCovers(grant.methods, method))
  )
}
