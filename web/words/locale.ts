/** The languages that have a catalogue. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

const storageName = 'language'

/** A person's choice; `system` follows the browser. */
export type LanguageChoice = Language | 'system'

/** Reads the choice made in this browser; `system` if there is none. */
export function chosenLanguage(): LanguageChoice {
  try {
    const chosen = localStorage.getItem(storageName)
    return languages.find((one) => one === chosen) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Changes the language of the dashboard; reloads the page, because modules read their words only once. */
export function chooseLanguage(choice: LanguageChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(storageName)
    else localStorage.setItem(storageName, choice)
  } catch {
    // Storage is unavailable, so the language stays the browser's.
  }
  window.location.reload()
}

/**
 * The language of this page: the chosen one, or else the first of the browser's languages that has a catalogue, or else
 * English.
 */
export const language: Language = languageOf(chosenLanguage())

/** The locale in which dates are formatted; in English, the day comes first. */
export const dateLocale = language === 'de' ? 'de' : 'en-GB'

function languageOf(choice: LanguageChoice): Language {
  if (choice !== 'system') return choice
  const wanted = navigator.languages.map((one) => one.slice(0, 2))
  return wanted.map((one) => languages.find((known) => known === one)).find(Boolean) ?? 'en'
}
