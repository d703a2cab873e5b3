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

/** Splits `/<slug>/<rest>`; `path` has no query. */
export function askedOf(path: string): Asked {
  const end = path.indexOf('/', 1)
  return end === -1
    ? { slug: path.slice(1), path: '/' }
    : { slug: path.slice(1, end), path: path.slice(end) }
}
