import { useMutation } from '@tanstack/react-query'
import { ConfirmDialog } from './ConfirmDialog.tsx'
import { say } from './Toasts.tsx'

interface RevocableToken {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly last_used_at?: string | undefined
}

interface RevokeWords {
  readonly revoke: string
  readonly revokeTitle: (name: string) => string
  readonly revokeText: string
  readonly revokeDone: string
}

interface RevokeTokenProps {
  /** The token to be revoked; undefined while the dialog is closed. */
  readonly token: RevocableToken | undefined
  readonly words: RevokeWords
  readonly revoke: (id: string) => Promise<unknown>
  readonly onClose: () => void
}

/** Asks for confirmation before a token is revoked; if the token has been used, its name must be typed. */
export function RevokeToken({ token, ...rest }: RevokeTokenProps) {
  return token === undefined ? undefined : <Question token={token} {...rest} />
}

function Question({
  token,
  words,
  revoke,
  onClose,
}: RevokeTokenProps & { readonly token: RevocableToken }) {
  const revocation = useMutation({
    mutationFn: async () => await revoke(token.id),
    onSuccess: () => {
      say(words.revokeDone)
      onClose()
    },
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={words.revokeTitle(token.name)}
      action={words.revoke}
      typed={token.last_used_at === undefined ? undefined : token.name}
      saving={revocation}
      onConfirm={() => revocation.mutate()}
    >
      <p>
        <code>{token.hint}</code>
      </p>
      <p>{words.revokeText}</p>
    </ConfirmDialog>
  )
}
