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
  return lengthened(words) as T
}

function lengthened(words: unknown): unknown {
  if (typeof words === 'string') return lengthenedText(words)
  if (typeof words === 'function') {
    return (...given: unknown[]) =>
      lengthened((words as (...given: unknown[]) => unknown)(...given))
  }
  if (Array.isArray(words)) return words.map(lengthened)
  if (words === null || typeof words !== 'object') return words
  return Object.fromEntries(Object.entries(words).map(([name, word]) => [name, lengthened(word)]))
}

function lengthenedText(text: string): string {
  if (/^npx |^https?:|^⟦[^⟦⟧]*⟧$/.test(text) || !/\p{L}/u.test(text)) return text
  const accented = text.replaceAll(
    /npx intercept [\w-]+|\p{L}/gu,
    (found) => accents[found] ?? found,
  )
  // The brackets are a part of what is added.
  const more = ' ñéšï'.repeat(text.length).slice(0, Math.ceil(text.length * longer) - 2)
  return `⟦${accented}${more.trimEnd()}⟧`
}
