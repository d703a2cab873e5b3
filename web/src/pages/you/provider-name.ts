import { entryWords } from '../../../words/en/entry.ts'
import { membersWords } from '../../../words/en/members.ts'

export function providerName(provider: string): string {
  return (
    entryWords.signIn.providers[provider] ?? membersWords.session.providers[provider] ?? provider
  )
}
