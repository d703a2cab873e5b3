import { digest } from '../../../secrets/index.ts'

const usesBeforeName = 5
const maxNames = 100
const textsCounted = 1000
// Long texts are lists of values of any length: each is another statement.
const maxTextBytes = 4000

/** The names under which the server keeps statements. */
export interface PreparedNames {
  /** A statement's name, once it has come up often enough to be worth one. */
  nameOf(text: string): string | undefined
  /** Runs a statement without a name from now on. */
  giveUp(text: string): void
}

/** One set for all connections; what the server keeps for each of them is bounded. */
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
      // The same on all nodes: a pooler that mixes their connections up must never run one statement for another.
      const own = `intercept_${digest(text).slice(0, 40)}`
      names.set(text, own)
      return own
    },
    giveUp(text) {
      names.set(text, undefined)
    },
  }
}
