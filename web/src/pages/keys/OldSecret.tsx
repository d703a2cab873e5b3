import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { keyCallersQuery } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { duration } from '../../parts/numbers.ts'
import { Card } from '../../parts/Surface.tsx'
import { exact, millis } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Callers } from './Callers.tsx'

interface OldSecretProps {
  readonly organization: string
  readonly it: Key
  readonly allowed: boolean
  readonly onDone: () => void
}

/** Shows who still uses the old secret during a rotation's overlap, with a button to end the overlap early. */
export function OldSecret({ organization, it, allowed, onDone }: OldSecretProps) {
  const old = it.secrets
    .slice(1)
    .find((secret) => secret.valid_until !== undefined && millis(secret.valid_until) > Date.now())
  const callers = useQuery(keyCallersQuery(organization, it.id))
  if (old?.valid_until === undefined || it.state === 'revoked') return undefined
  return (
    <Card
      flush
      title={w.detail.stragglers}
      lead={w.detail.stragglerLead(old.hint, exact(old.valid_until))}
      actions={allowed ? <EndOld organization={organization} it={it} onDone={onDone} /> : undefined}
    >
      <Callers
        label={w.detail.stragglers}
        callers={callers.data?.stragglers ?? []}
        list={callers}
        empty={<p className="muted pad">{w.detail.noStragglers}</p>}
      />
    </Card>
  )
}

function EndOld({ organization, it, onDone }: Omit<OldSecretProps, 'allowed'>) {
  const [asking, setAsking] = useState(false)
  const end = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys/:key/end-old-secret', {
        path: { organization, key: it.id },
      }),
    onSuccess: ({ confirmation }) => {
      say(w.detail.oldEnded, {
        text: w.revokeDialog.proof(confirmation.nodes, duration(confirmation.took_ms)),
      })
      setAsking(false)
      onDone()
    },
  })
  return (
    <>
      <Button small look="danger" onClick={() => setAsking(true)}>
        {w.detail.endOld}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.endOldDialog.title}
        action={w.detail.endOld}
        saving={end}
        onConfirm={() => end.mutate()}
      >
        <p>{w.endOldDialog.text}</p>
      </ConfirmDialog>
    </>
  )
}
