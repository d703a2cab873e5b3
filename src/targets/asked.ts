import { recordedPrefix } from '../store/index.ts'

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
