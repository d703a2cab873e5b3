import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { membersQuery } from '../../api/members.ts'
import { policyQuery, setPolicy, type Connection, type SsoPolicy } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Check, SwitchRow } from '../../parts/Field.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { SignedOut } from './SignedOut.tsx'

const w = ssoWords.policy
const freshMs = 3_600_000

/** Whether members must come through the company's provider, and who is excepted. */
export function PolicyCard({ connections }: { readonly connections: readonly Connection[] }) {
  const { slug } = useOrganization()
  const policy = useQuery(policyQuery(slug))
  return (
    <Card title={w.title}>
      {policy.data !== undefined ? (
        <Policy
          key={`${policy.data.required} ${policy.data.break_glass.map((one) => one.user_id).join(' ')}`}
          policy={policy.data}
          connections={connections}
        />
      ) : policy.isError ? (
        <ProblemNotice error={policy.error} retry={() => void policy.refetch()} />
      ) : (
        <Loading />
      )}
    </Card>
  )
}

function Policy({
  policy,
  connections,
}: {
  readonly policy: SsoPolicy
  readonly connections: readonly Connection[]
}) {
  const { slug, may } = useOrganization()
  const client = useQueryClient()
  const mayChoose = policy.break_glass.length === 0 || may('owners.manage')
  const before = policy.break_glass.map((one) => one.user_id)
  const [chosen, setChosen] = useState<readonly string[]>(before)
  const [asking, setAsking] = useState(false)
  const members = useQuery(membersQuery(slug))
  const owners = (members.data?.items ?? []).filter((member) => member.role === 'owner')
  const tested = connections.some(
    (one) =>
      Date.parse(one.tested_at ?? '') > Date.now() - freshMs && one.disabled_at === undefined,
  )
  const changed = chosen.toSorted().join() !== before.toSorted().join()
  const saving = useMutation({
    mutationFn: (required: boolean) => setPolicy(slug, { required, break_glass: chosen }),
    onSuccess: (after) => {
      say(after.required === policy.required ? w.saved : after.required ? w.turnedOn : w.turnedOff)
      setAsking(false)
      void client.invalidateQueries({ queryKey: [slug, 'sso', 'policy'] })
    },
  })
  const ready = policy.required || (tested && chosen.length > 0)
  return (
    <div className="stack">
      <div className="stack-tight" role="group" aria-label={w.breakGlass}>
        <h3>{w.breakGlass}</h3>
        <p className="muted">{mayChoose ? w.breakGlassHint : w.breakGlassFixed}</p>
        {owners.map((owner) => (
          <Check
            key={owner.user_id}
            label={owner.name}
            hint={owner.email}
            checked={chosen.includes(owner.user_id)}
            disabled={!mayChoose}
            onValue={(on) =>
              setChosen(
                on ? [...chosen, owner.user_id] : chosen.filter((one) => one !== owner.user_id),
              )
            }
          />
        ))}
        {policy.required && changed ? (
          <div>
            <Button
              small
              busy={saving.isPending}
              disabled={chosen.length === 0}
              onClick={() => saving.mutate(true)}
            >
              {ssoWords.connection.save}
            </Button>
          </div>
        ) : undefined}
      </div>
      <SwitchRow
        label={w.switch}
        hint={hintOf(policy.required, tested, chosen.length)}
        checked={policy.required}
        disabled={!ready}
        onValue={(on) => (on ? setAsking(true) : saving.mutate(false))}
      />
      {saving.error !== null && !asking ? <ProblemNotice error={saving.error} /> : undefined}
      <div className="stack-tight">
        <h3>{w.login}</h3>
        <p className="muted">{w.loginLead}</p>
        <CopyText text={policy.login_uri} what={w.login} />
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.onTitle}
        action={w.onAction}
        busy={saving.isPending}
        error={saving.error}
        onConfirm={() => saving.mutate(true)}
      >
        <p>{w.onText}</p>
        {asking ? <SignedOut breakGlass={chosen} /> : undefined}
      </ConfirmDialog>
    </div>
  )
}

function hintOf(required: boolean, tested: boolean, owners: number): string {
  if (required) return w.on
  if (!tested) return `${w.off} ${w.untested}`
  return owners === 0 ? `${w.off} ${w.needsOwner}` : w.off
}
