import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { latestCallsQuery } from '../../api/calls.ts'
import type { Call, Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { duration } from '../../parts/numbers.ts'
import { QueryState } from '../../parts/States.tsx'
import { millis } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { KeySecret } from './KeySecret.tsx'

const hourMs = 3_600_000
const weekMs = 7 * 24 * hourMs
const looksAt = 200

interface Doing {
  readonly organization: string
  readonly it: Key
  readonly onDone: () => void
}

export function RotateKey({ organization, it, onDone }: Doing) {
  const [overlap, setOverlap] = useState('86400')
  const rotate = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys/:key/rotate', {
        path: { organization, key: it.id },
        body: { overlap_seconds: Number(overlap) },
      }),
  })
  if (rotate.data !== undefined) {
    return (
      <KeySecret
        organization={organization}
        issued={it}
        secret={rotate.data.secret}
        title={w.rotatedTitle}
        rotatedTo={rotate.data.key.hint}
        onClose={onDone}
      />
    )
  }
  return (
    <FormDialog
      onClose={onDone}
      title={w.rotate.title(it.name)}
      lead={w.rotate.lead}
      action={w.rotate.action}
      saving={rotate}
      onSubmit={() => rotate.mutate()}
    >
      <SelectField
        label={w.rotate.overlap}
        hint={w.rotate.leaked}
        value={overlap}
        options={Object.entries(w.rotate.overlaps).map(([value, label]) => ({ value, label }))}
        onValue={setOverlap}
      />
    </FormDialog>
  )
}

export function RevokeKey({ organization, it, onDone }: Doing) {
  const recent = useQuery(latestCallsQuery(organization, it.id, looksAt))
  const revoke = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys/:key/revoke', {
        path: { organization, key: it.id },
      }),
    onSuccess: ({ confirmation }) => {
      say(w.revokeDialog.done, {
        text: w.revokeDialog.proof(confirmation.nodes, duration(confirmation.took_ms)),
      })
      onDone()
    },
  })
  const inUse = it.last_used_at !== undefined && millis(it.last_used_at) > Date.now() - weekMs
  return (
    <ConfirmDialog
      onClose={onDone}
      title={w.revokeDialog.title(it.name)}
      action={w.revokeDialog.action}
      typed={inUse ? it.name : undefined}
      saving={revoke}
      onConfirm={() => revoke.mutate()}
    >
      {recent.data === undefined ? (
        <QueryState query={recent} />
      ) : (
        <p>{useOfLastHour(recent.data.items)}</p>
      )}
      <p className="muted">{w.revokeDialog.text}</p>
    </ConfirmDialog>
  )
}

function useOfLastHour(calls: readonly Call[]): string {
  const lastHour = calls.filter((one) => millis(one.at) > Date.now() - hourMs)
  if (lastHour.length === 0) return w.revokeDialog.quiet
  const { recent, recentAtLeast } = w.revokeDialog
  const addresses = new Set(lastHour.map((one) => one.address)).size
  return (lastHour.length < looksAt ? recent : recentAtLeast)(lastHour.length, addresses)
}
