import { coreAttributes, findExtension, resolveTarget } from './attributes.ts'
import type { Attribute, ResourceType } from './attributes.ts'

/** The parts of a resource that a response shows (RFC 7644 section 3.9, RFC 7643 section 2.2 "returned"). */
export interface Projection {
  /** Whether a top-level core attribute is shown; if not, it need not be loaded. */
  shows(name: string): boolean
  /** Returns the document without the parts that were not requested. */
  apply(document: Readonly<Record<string, unknown>>): Record<string, unknown>
}

/** The parts of an attribute that a query parameter names: some, all, or none (undefined). */
type Parts = ReadonlySet<string> | 'all' | undefined
type Names = ReadonlyMap<string, ReadonlySet<string> | 'all'>

/** The parts of one attribute that a request includes and excludes. */
interface Choice {
  readonly wanted: Parts
  readonly unwanted: Parts
}

/** Builds the projection for `attributes` and `excludedAttributes`; unknown names are ignored. */
export function createProjection(
  type: ResourceType,
  attributes: readonly string[],
  excluded: readonly string[],
): Projection {
  const wanted = attributes.length === 0 ? undefined : namesOf(type, attributes)
  const unwanted = namesOf(type, excluded)
  const isSelective = wanted !== undefined
  const choiceOf = (key: string): Choice => ({
    wanted: wanted?.get(key),
    unwanted: unwanted.get(key),
  })
  return {
    shows: (name) =>
      coreAttributes(type).some(
        (each) => each.name === name && isShown(each, choiceOf(name), isSelective),
      ),
    apply(document) {
      const answer: Record<string, unknown> = {}
      for (const each of coreAttributes(type)) {
        const value = document[each.name]
        const choice = choiceOf(each.name)
        if (value === undefined || !isShown(each, choice, isSelective)) continue
        answer[each.name] = cut(value, choice)
      }
      const { extension } = type
      const parts = extension && document[extension.id]
      if (extension === undefined || parts === undefined) return answer
      const kept: Record<string, unknown> = {}
      for (const each of extension.attributes) {
        const value = (parts as Record<string, unknown>)[each.name]
        const choice = choiceOf(`${extension.id}:${each.name}`)
        const whole = { ...choice, wanted: choice.wanted ?? wanted?.get(extension.id) }
        if (value === undefined || unwanted.has(extension.id)) continue
        if (!isShown(each, whole, isSelective)) continue
        kept[each.name] = cut(value, choice)
      }
      if (Object.keys(kept).length > 0) answer[extension.id] = kept
      return answer
    },
  }
}

function isShown(
  attribute: Attribute,
  { wanted, unwanted }: Choice,
  isSelective: boolean,
): boolean {
  if (attribute.returned === 'always') return true
  if (attribute.returned === 'never') return false
  if (isSelective) return wanted !== undefined && unwanted !== 'all'
  return attribute.returned === 'default' && unwanted !== 'all'
}

// Reduces a complex value to the requested parts, and drops the excluded ones.
function cut(value: unknown, choice: Choice): unknown {
  const { wanted, unwanted } = choice
  const only = wanted === 'all' ? undefined : wanted
  const without = unwanted === 'all' ? undefined : unwanted
  if (only === undefined && without === undefined) return value
  if (Array.isArray(value)) return value.map((item) => cut(item, choice))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).filter(
      ([name]) => (only === undefined || only.has(name)) && without?.has(name) !== true,
    ),
  )
}

function namesOf(type: ResourceType, paths: readonly string[]): Names {
  const names = new Map<string, Set<string> | 'all'>()
  for (const asked of paths) {
    // Microsoft's test collection asks for `emails[type eq "work"]`. The filter is ignored, and the attribute shown.
    const path = asked.split('[', 1)[0] ?? ''
    const extension = findExtension(type, path)
    if (extension !== undefined) names.set(extension.id, 'all')
    const target = extension === undefined ? resolveTarget(type, path) : undefined
    if (target === undefined) continue
    const key =
      target.extension === undefined
        ? target.attribute.name
        : `${target.extension.id}:${target.attribute.name}`
    const before = names.get(key)
    if (target.sub === undefined) names.set(key, 'all')
    else if (before === undefined) names.set(key, new Set([target.sub.name]))
    else if (before !== 'all') before.add(target.sub.name)
  }
  return names
}
