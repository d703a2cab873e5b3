import { recordedPrefix } from '../store/index.ts'
import { cidrContains, parseCidr, type Cidr, type KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import { pathAmbiguity, readingsOf } from './path.ts'
import { decide, type Decision, type RuleList } from './rules.ts'
import type { TargetsBySlug } from './target-cache.ts'
import { grantCovers, type TargetSettings } from './settings.ts'

/** The checks in their order; a refused call stops at one of them. */
export const checks = [
  'shape',
  'key',
  'address',
  'browser',
  'target',
  'rules',
  'limits',
  'forward',
] as const

export type Check = (typeof checks)[number]

/** Where guarded calls come in. */
export const gatewayPrefix = recordedPrefix

/** What a call asks for, taken from its URL. */
export interface Asked {
  /** The target's name; '' when the URL names none. */
  readonly slug: string
  /** Path below the target, with a slash in front. */
  readonly path: string
}

/** Takes `/<slug>/<rest>` apart; `path` has no query. */
export function askedOf(path: string): Asked {
  const end = path.indexOf('/', 1)
  return end === -1
    ? { slug: path.slice(1), path: '/' }
    : { slug: path.slice(1, end), path: path.slice(end) }
}

/** 403 `address_not_allowed` unless the key may come from this address. */
export function checkAddress(principal: KeyPrincipal, address: string): void {
  if (principal.cidrs === undefined) return
  if (rangesOf(principal.cidrs).some((range) => cidrContains(range, address))) return
  throw new Problem('address_not_allowed', `The API key may not be used from ${address}.`)
}

/** What a browser says of the page that a request comes from. */
export interface BrowserSigns {
  readonly method: string
  readonly secFetchSite: string | undefined
  readonly accessControlRequestMethod: string | undefined
}

/** Whether a request comes from a browser's page, or is the question before one (Fetch standard, section 3.2). */
export function isFromPage(signs: BrowserSigns): boolean {
  if (signs.secFetchSite !== undefined && signs.secFetchSite !== 'none') return true
  return signs.method === 'OPTIONS' && signs.accessControlRequestMethod !== undefined
}

/** 403 `browser_origin_refused` for a page's request, unless the target is meant for pages. */
export function checkBrowser(signs: BrowserSigns, target: GuardedTarget | undefined): void {
  if (!isFromPage(signs) || target?.settings.browsers === true) return
  throw new Problem(
    'browser_origin_refused',
    'This came from a page in a browser, and API keys do not belong there: everybody can read them.',
  )
}

/** The target of a call; 400 `path_ambiguous`, 404 `target_not_found`, 403 `target_disabled`. */
export function findTarget(
  targets: TargetsBySlug,
  principal: KeyPrincipal,
  asked: Asked,
  method: string,
): GuardedTarget {
  // Before anything is looked up by a piece of it, the path must have one reading.
  const fault =
    emptyName(asked.slug) ??
    pathAmbiguity(`/${asked.slug}`, 'canonical') ??
    pathAmbiguity(asked.path, 'verbatim')
  if (fault !== undefined) throw ambiguous(fault)
  const target = targets.get(asked.slug)
  if (target === undefined || !isGranted(principal, asked.slug, method)) {
    throw new Problem(
      'target_not_found',
      `There is no target "${asked.slug}" for this key and ${method}.`,
    )
  }
  if (target.disabled)
    throw new Problem('target_disabled', `The target "${target.slug}" is disabled.`)
  return target
}

function emptyName(slug: string): string | undefined {
  return slug === '' ? 'it holds an empty segment' : undefined
}

/** Whether a key's grants reach a target with a method. */
function isGranted(principal: KeyPrincipal, slug: string, method: string): boolean {
  return (
    principal.grants === undefined ||
    principal.grants.some((grant) => grant.target === slug && grantCovers(grant.methods, method))
  )
}

/** What the target's rules say of a call, whatever that is; 400 `path_ambiguous`. */
export function askRules(
  target: RuleList & { readonly settings: Pick<TargetSettings, 'paths'> },
  method: string,
  path: string,
): Decision {
  const fault = pathAmbiguity(path, target.settings.paths)
  if (fault !== undefined) throw ambiguous(fault)
  return decide(target, method, readingsOf(path))
}

/** 403 `rule_denied` for a call that the rules do not allow. */
export function enforce(decision: Decision, target: GuardedTarget): void {
  if (decision.allowed) return
  const { ruleId } = decision
  throw new Problem(
    'rule_denied',
    ruleId === undefined
      ? 'No rule of the target matches this method and path, and its last line is “otherwise: refuse”.'
      : `Rule ${target.rules.findIndex((rule) => rule.id === ruleId) + 1} of the target refuses this method and path.`,
    { members: { rule_id: ruleId ?? null } },
  )
}

/** What the target's rules say; 400 `path_ambiguous`, 403 `rule_denied`. */
export function decideRules(target: GuardedTarget, method: string, path: string): Decision {
  const decision = askRules(target, method, path)
  enforce(decision, target)
  return decision
}

/** The targets that a key may call, with the methods granted (undefined = all). */
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

function ambiguous(fault: string): Problem {
  return new Problem('path_ambiguous', `The path can be read in more than one way: ${fault}.`)
}

// Keys with ranges are few and used often: their ranges are parsed once.
const parsed = new WeakMap<readonly string[], Cidr[]>()

function rangesOf(cidrs: readonly string[]): Cidr[] {
  let ranges = parsed.get(cidrs)
  if (ranges === undefined) {
    ranges = cidrs.map(parseCidr)
    parsed.set(cidrs, ranges)
  }
  return ranges
}
