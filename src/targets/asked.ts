import { recordedPrefix } from '../store/index.ts'

/** The checks in order; a refused call stops at one of them. */
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

/** The path prefix of guarded calls. */
export const gatewayPrefix = recordedPrefix

/** The target and path that a call's URL asks for. */
export interface Asked {
  /** The target's slug; '' when the URL names none. */
  readonly slug: string
  /** The path below the target, with a leading slash. */
  readonly path: string
}

/** Splits `/<slug>/<rest>`, which begins at an offset of a path without a query. */
export function askedOf(path: string, start = 0): Asked {
  const end = path.indexOf('/', start + 1)
  return end === -1
    ? { slug: path.slice(start + 1), path: '/' }
    : { slug: path.slice(start + 1, end), path: path.slice(end) }
}
