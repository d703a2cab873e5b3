import type { signInWords as English } from '../en/sign-ins.ts'
import type { Translated } from '../translated.ts'

export const signInWords: Translated<typeof English> = {
  title: 'Anmeldungen der letzten 30 Tage',
  company: 'über das Unternehmen',
  other: 'auf anderem Weg',
  refused: 'abgewiesen',
}
