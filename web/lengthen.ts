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

/** The same words with every text accented, in brackets and 40 % longer; commands and addresses stay as they are. */
export function lengthen<T>(words: T): T {
  return changed(words, lengthenedText) as T
}

/** The same words with every text in brackets. */
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

/** Commands, addresses, what is marked already, and what has no letters. */
function isPlain(text: string): boolean {
  return /^npx interceptd|^https?:|^⟦[^⟦⟧]*⟧$/.test(text) || !/\p{L}/u.test(text)
}

function lengthenedText(text: string): string {
  if (isPlain(text)) return text
  const accented = text.replaceAll(
    /npx interceptd [\w-]+|\p{L}/gu,
    (found) => accents[found] ?? found,
  )
  // The brackets are a part of what is added.
  const more = ' ñéšï'.repeat(text.length).slice(0, Math.ceil(text.length * longer) - 2)
  return `⟦${accented}${more.trimEnd()}⟧`
}
