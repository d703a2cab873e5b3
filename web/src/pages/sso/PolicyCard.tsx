import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { ownersQuery } from '../../api/members.ts'
import { policyQuery, setPolicy, type Connection, type SsoPolicy } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Check, SwitchRow } from '../../parts/Field.tsx'
import { ProblemNotice, QueryState } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { SignedOut } from './SignedOut.tsx'

const w = ssoWords.policy
const freshMs = 3_600_000

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
      ) : (
        <QueryState query={policy} />
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
  const before = policy.break_glass.map((one) => one.user_id)
  const [chosen, setChosen] = useState<readonly string[]>(before)
  const [asking, setAsking] = useState(false)
  const changed = chosen.toSorted().join() !== before.toSorted().join()
  const saving = useSaving({ policy, chosen, onSaved: () => setAsking(false) })
  const tested = connections.some(isTested)
  const ready = policy.required || (tested && chosen.length > 0)
  return (
    <div className="stack">
      <BreakGlass policy={policy} chosen={chosen} onChosen={setChosen}>
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
      </BreakGlass>
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
        saving={saving}
        onConfirm={() => saving.mutate(true)}
      >
        <p>{w.onText}</p>
        {asking ? <SignedOut breakGlass={chosen} /> : undefined}
      </ConfirmDialog>
    </div>
  )
}

function useSaving({
  policy,
  chosen,
  onSaved,
}: {
  readonly policy: SsoPolicy
  readonly chosen: readonly string[]
  readonly onSaved: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (required: boolean) => setPolicy(slug, { required, break_glass: chosen }),
    onSuccess: (after) => {
      say(after.required === policy.required ? w.saved : after.required ? w.turnedOn : w.turnedOff)
      onSaved()
      void client.invalidateQueries({ queryKey: [slug, 'sso', 'policy'] })
    },
  })
}

/** Selects the owners who may always sign in another way, in case the provider does not respond. */
function BreakGlass({
  policy,
  chosen,
  onChosen,
  children,
}: {
  readonly policy: SsoPolicy
  readonly chosen: readonly string[]
  readonly onChosen: (chosen: readonly string[]) => void
  readonly children: ReactNode
}) {
  const { slug, may } = useOrganization()
  const mayChoose = policy.break_glass.length === 0 || may('owners.manage')
  // A deactivated owner can no longer be chosen, only removed.
  const owners = (useQuery(ownersQuery(slug)).data?.items ?? []).filter(
    (one) => one.deactivated_at === undefined || chosen.includes(one.user_id),
  )
  return (
    <div className="stack-tight" role="group" aria-label={w.breakGlass}>
      <h3>{w.breakGlass}</h3>
      <p className="muted">{mayChoose ? w.breakGlassHint : w.breakGlassFixed}</p>
      {owners.map(({ user_id: id, name, email }) => (
        <Check
          key={id}
          label={name}
          hint={email}
          checked={chosen.includes(id)}
          disabled={!mayChoose}
          onValue={(on) => onChosen(on ? [...chosen, id] : chosen.filter((one) => one !== id))}
        />
      ))}
      {children}
    </div>
  )
}

function isTested(connection: Connection): boolean {
  const { tested_at: testedAt, disabled_at: disabledAt } = connection
  return Date.parse(testedAt ?? '') > Date.now() - freshMs && disabledAt === undefined
}

function hintOf(required: boolean, tested: boolean, owners: number): string {
  if (required) return w.on
  if (!tested) return `${w.off} ${w.untested}`
  return owners === 0 ? `${w.off} ${w.needsOwner}` : w.off
}
