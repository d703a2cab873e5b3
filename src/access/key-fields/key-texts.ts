import { methods } from '../../methods.ts'
import { nearest } from '../../nearest.ts'
import type { Grant, Quota } from '../../store/index.ts'

/**
 * Converts fields of keys to and from the text that people write. Each parser throws an Error whose message continues a
 * sentence that begins with the flag's name.
 */

/** Writes a grant as `echo` or `echo:GET,POST`. */
export function grantText({ target, methods: granted }: Grant): string {
  return granted === undefined ? target : `${target}:${granted.join(',')}`
}

export function parseGrant(text: string): Grant {
  const [target = '', granted] = text.split(':')
  if (target === '') throw new Error('must be TARGET or TARGET:METHOD,METHOD')
  if (granted === undefined) return { target }
  const names = granted.split(',').map((method) => method.trim().toUpperCase())
  const known: readonly string[] = methods
  const wrong = names.find((name) => !known.includes(name))
  if (wrong !== undefined) {
    const meant = nearest(wrong, known)
    throw new Error(
      meant === undefined
        ? `knows no method ${wrong || '""'}, only ${known.join(', ')}`
        : `knows no method ${wrong}; did you mean ${meant}?`,
    )
  }
  return { target, methods: names }
}

export function parseQuota(text: string): Quota {
  const [, calls, period] = /^(\d{1,12})\/(day|month)$/.exec(text) ?? []
  if (calls === undefined) throw new Error('must be such as 10000/day or 1000000/month')
  return { calls: Number(calls), period: period === 'month' ? 'month' : 'day' }
}
