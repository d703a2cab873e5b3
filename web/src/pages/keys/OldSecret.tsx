import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/Dialogs.tsx'
import { duration } from '../../parts/numbers.ts'
import { Card, Facts } from '../../parts/Surface.tsx'
import { exact, millis, Time } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'

/** While a rotation overlaps: who still uses the old secret, and the way to end it early. */
export function OldSecret({
  organization,
  it,
  allowed,
  onDone,
}: {
  readonly organization: string
  readonly it: Key
  readonly allowed: boolean
  readonly onDone: () => void
}) {
  const [asking, setAsking] = useState(false)
  const old = it.secrets
    .slice(1)
    .find((secret) => secret.validUntil !== undefined && millis(secret.validUntil) > Date.now())
  const rotatedAt = it.secrets[0]?.createdAt ?? ''
  const end = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys/:key/end-old-secret', {
        path: { organization, key: it.id },
      }),
    onSuccess: ({ confirmation }) => {
      say(w.detail.oldEnded, {
        text: w.revokeDialog.proof(confirmation.nodes, duration(confirmation.tookMs)),
      })
      setAsking(false)
      onDone()
    },
  })
  if (old?.validUntil === undefined || it.state === 'revoked') return undefined
  const used = old.lastUsedAt !== undefined && old.lastUsedAt > rotatedAt
  return (
    <Card
      title={w.detail.stragglers}
      lead={w.detail.stragglerLead(exact(old.validUntil))}
      actions={
        allowed ? (
          <Button small look="danger" onClick={() => setAsking(true)}>
            {w.detail.endOld}
          </Button>
        ) : undefined
      }
    >
      {used ? (
        <Facts
          facts={[
            [w.columns.hint, <code key="hint">{old.hint}</code>],
            [w.detail.address, <code key="address">{old.lastUsedAddress}</code>],
            [w.detail.agent, old.lastUsedAgent],
            [w.detail.lastSeen, <Time key="seen" at={old.lastUsedAt} form="relative" />],
          ]}
        />
      ) : (
        <p>{w.detail.noStragglers}</p>
      )}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.endOldDialog.title}
        action={w.detail.endOld}
        busy={end.isPending}
        error={end.error}
        onConfirm={() => end.mutate()}
      >
        <p>{w.endOldDialog.text}</p>
      </ConfirmDialog>
    </Card>
  )
}
