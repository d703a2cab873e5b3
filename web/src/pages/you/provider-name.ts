import { entryWords } from '../../../words/en/entry.ts'
import { membersWords } from '../../../words/en/members.ts'

/** The display name of a way to sign in. */
export function providerName(provider: string): string {
  return (
    entryWords.signIn.providers[provider] ?? membersWords.session.providers[provider] ?? provider
  )
}
