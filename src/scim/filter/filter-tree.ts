import type { Target } from '../schema/attributes.ts'

export type Operator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le'

/** A filter of RFC 7644 section 3.4.2.2, bound to the schema; its values are already folded for comparison. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Filter[] }
  | { readonly kind: 'not'; readonly term: Filter }
  | { readonly kind: 'present'; readonly target: Target }
  | {
      readonly kind: 'compare'
      readonly target: Target
      readonly operator: Operator
      readonly value: string | number
    }
  | { readonly kind: 'some'; readonly target: Target; readonly where: Filter }
  | { readonly kind: 'never' }
