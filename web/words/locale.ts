/** The languages that there is a catalogue for. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

const storageName = 'language'

/** What somebody chose; `system` follows the browser. */
export type LanguageChoice = Language | 'system'

/** What somebody chose in this browser. */
export function chosenLanguage(): LanguageChoice {
  try {
    const chosen = localStorage.getItem(storageName)
    return languages.find((one) => one === chosen) ?? 'system'
  } catch {
    return 'system'
  }
}

/** Shows the dashboard in a language from now on: words are read once, so the page is loaded again. */
export function chooseLanguage(choice: LanguageChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem(storageName)
    else localStorage.setItem(storageName, choice)
  } catch {
    // Storage is closed: the browser's language it stays.
  }
  window.location.reload()
}

/** The language of this page: the chosen one, or the first of the browser's that there is a catalogue for. */
export const language: Language = languageOf(chosenLanguage())

/** How dates are written: English ones put the day first, as they always did here. */
export const dateLocale = language === 'de' ? 'de' : 'en-GB'

function languageOf(choice: LanguageChoice): Language {
  if (choice !== 'system') return choice
  const wanted = navigator.languages.map((one) => one.slice(0, 2))
  return wanted.map((one) => languages.find((known) => known === one)).find(Boolean) ?? 'en'
}
