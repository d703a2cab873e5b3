import { findAttribute, findExtension, resolveTarget } from '../schema/attributes.ts'
import type { ResourceType, Schema, Target } from '../schema/attributes.ts'
import { refuse } from '../protocol/errors.ts'
import { parseValueFilter } from './filter.ts'
import type { Filter } from './filter-tree.ts'
import { tokenize } from './filter-tokens.ts'

/**
 * The target of a PATCH operation (RFC 7644 section 3.5.2, figure 7): a whole extension, or an attribute with an
 * optional value filter.
 */
export type PatchPath =
  | { readonly kind: 'extension'; readonly extension: Schema }
  | { readonly kind: 'attribute'; readonly target: Target; readonly filter: Filter | undefined }

/** Parses the path of a PATCH operation; undefined if the schema has no such attribute. */
export function parsePath(type: ResourceType, source: string): PatchPath | undefined {
  const extension = findExtension(type, source.trim())
  if (extension !== undefined) return { kind: 'extension', extension }
  const tokens = tokenize(source, 'invalidPath')
  const [name, open] = tokens
  if (name?.kind !== 'word') throw refuse('invalidPath', 'The path must begin with an attribute.')
  const target = resolveTarget(type, name.text)
  if (open === undefined) return target && { kind: 'attribute', target, filter: undefined }
  const close = tokens.findLastIndex((token) => token.kind === ']')
  const after = tokens.slice(close + 1)
  if (open.kind !== '[' || close === -1 || after.length > 1) {
    throw refuse('invalidPath', 'The path cannot be read.')
  }
  if (target === undefined) return undefined
  if (!target.attribute.multiValued || target.sub !== undefined) {
    throw refuse('invalidPath', `'${name.text}' has no values to select from.`)
  }
  const filter = parseValueFilter(tokens.slice(2, close), target.attribute)
  const [part] = after
  if (part === undefined) return { kind: 'attribute', target, filter }
  if (part.kind !== 'word' || !part.text.startsWith('.')) {
    throw refuse('invalidPath', 'The path cannot be read.')
  }
  const sub = findAttribute(target.attribute.subAttributes ?? [], part.text.slice(1))
  return sub && { kind: 'attribute', target: { ...target, sub }, filter }
}
