import { inLanguage } from '../language.ts'

const englishSignInWords = {
  title: 'Sign-ins of the last 30 days',
  company: 'through the company',
  other: 'in other ways',
  refused: 'refused',
}

export const signInWords = inLanguage('signInWords', englishSignInWords)
