const accents: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'ï',
  o: 'ö',
  u: 'ü',
  y: 'ý',
  n: 'ñ',
  s: 'š',
  c: 'ç',
  A: 'Å',
  E: 'É',
  I: 'Î',
  O: 'Ö',
  U: 'Ü',
  S: 'Š',
  C: 'Ç',
  R: 'Ŕ',
}
const longer = 0.4

/**
 * Returns the words with every text accented, in brackets and 40 % longer; commands, URLs and texts without letters
 * stay unchanged.
 */
export function lengthen<T>(words: T): T {
  return changed(words, lengthenedText) as T
}

/** Returns the words with every text in brackets; commands, URLs and texts without letters stay unchanged. */
export function bracket<T>(words: T): T {
  return changed(words, (text) => (isPlain(text) ? text : `⟦${text}⟧`)) as T
}

function changed(words: unknown, change: (text: string) => string): unknown {
  if (typeof words === 'string') return change(words)
  if (typeof words === 'function') {
    return (...given: unknown[]) =>
      changed((words as (...given: unknown[]) => unknown)(...given), change)
  }
  if (Array.isArray(words)) return words.map((word) => changed(word, change))
  if (words === null || typeof words !== 'object') return words
  return Object.fromEntries(
    Object.entries(words).map(([name, word]) => [name, changed(word, change)]),
  )
}

/** Whether a text stays unchanged: a command, a URL, a text already in brackets, or one without letters. */
function isPlain(text: string): boolean {
  return /^npx interceptd|^https?:|^⟦[^⟦⟧]*⟧$/.test(text) || !/\p{L}/u.test(text)
}

function lengthenedText(text: string): string {
  if (isPlain(text)) return text
  const accented = text.replaceAll(
    /npx interceptd [\w-]+|\p{L}/gu,
    (found) => accents[found] ?? found,
  )
  // The two brackets count as part of the added length.
  const added = Math.max(0, Math.ceil(text.length * longer) - 2)
  const more = ' ñéšï'.repeat(text.length).slice(0, added)
  return `⟦${accented}${more.trimEnd()}⟧`
}
