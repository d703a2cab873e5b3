import { digest } from '../../../secrets/index.ts'

const usesBeforeName = 5
const maxNames = 100
const textsCounted = 1000
// Long texts contain value lists of varying length, so each would be a different statement.
const maxTextBytes = 4000

/** The names under which statements are prepared on the server. */
export interface PreparedNames {
  /** Returns a statement's name; undefined if it must run unnamed, for example because it has run only a few times. */
  nameOf(text: string): string | undefined
  /** Withdraws a statement's name for good, so that the statement runs unnamed. */
  giveUp(text: string): void
}

/**
 * Creates the names that all connections share. Their number is bounded, because the server keeps each statement once
 * per connection.
 */
export function createPreparedNames(): PreparedNames {
  const names = new Map<string, string | undefined>()
  let uses = new Map<string, number>()
  let given = 0

  return {
    nameOf(text) {
      const name = names.get(text)
      if (name !== undefined || given >= maxNames) return name
      if (text.length > maxTextBytes || names.has(text)) return undefined
      const used = (uses.get(text) ?? 0) + 1
      if (used < usesBeforeName) {
        if (uses.size >= textsCounted) uses = new Map()
        uses.set(text, used)
        return undefined
      }
      uses.delete(text)
      given += 1
      // The name is derived from the text, so that all nodes agree: behind a pooler that mixes connections, a name must
      // never run another statement.
      const own = `intercept_${digest(text).slice(0, 40)}`
      names.set(text, own)
      return own
    },
    giveUp(text) {
      names.set(text, undefined)
    },
  }
}
