import { SecretDialog } from './SecretDialog.tsx'

interface IssuedTokenProps {
  /** The new token's secret; undefined while there is none to show. */
  readonly secret: string | undefined
  readonly words: {
    readonly secretName: string
    readonly shownTitle: string
    readonly shownLead: string
  }
  readonly onClose: () => void
}

export function IssuedToken({ secret, words, onClose }: IssuedTokenProps) {
  return secret === undefined ? undefined : (
    <SecretDialog
      secret={secret}
      name={words.secretName}
      title={words.shownTitle}
      lead={words.shownLead}
      onClose={onClose}
    />
  )
}
