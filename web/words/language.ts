import { language } from './locale.ts'

let catalogue: Readonly<Record<string, unknown>> | undefined

/** Reads the catalogue of the page's language; before this no words may be read. */
export async function loadLanguage(): Promise<void> {
  document.documentElement.lang = language
  if (language === 'de') catalogue = await import('./de/index.ts')
}

/** The words of this name in the page's language. */
export function inLanguage<T>(name: string, english: T): T {
  return (catalogue?.[name] ?? english) as T
}
