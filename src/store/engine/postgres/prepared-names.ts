import { digest } from '../../../secrets/index.ts'

const usesBeforeName = 5
const maxNames = 100
const textsCounted = 1000
// Long texts contain value lists of varying length, so each would be a different statement.
const maxTextBytes = 4000

/** The names of statements prepared on the server. */
export interface PreparedNames {
  /** Returns a name for a statement that has been run often enough to be worth preparing. */
  nameOf(text: string): string | undefined
  /** Runs this statement unnamed from now on. */
  giveUp(text: string): void
}

/** Creates one set for all connections, with a bound on how much the server keeps for each. */
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
      // Derived from the text, so all nodes agree: behind a pooler that mixes connections, a name must never run
      // another statement.
      const own = `intercept_${digest(text).slice(0, 40)}`
      names.set(text, own)
      return own
    },
    giveUp(text) {
      names.set(text, undefined)
    },
  }
}
