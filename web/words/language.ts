import { language } from './locale.ts'

let catalogue: Readonly<Record<string, unknown>> | undefined

/** Loads the catalogue of the page's language; no module that reads words may be imported earlier. */
export async function loadLanguage(): Promise<void> {
  document.documentElement.lang = language
  if (language === 'de') catalogue = await import('./de/index.ts')
}

/** Returns the words with this name in the page's language, or the English ones if there is no translation. */
export function inLanguage<T>(name: string, english: T): T {
  return (catalogue?.[name] ?? english) as T
}
