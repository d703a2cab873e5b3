import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { Alone } from '../../frame/Alone.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { Loading } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { OwnerSteps } from './OwnerSteps.tsx'
import { KeyStep, TargetStep } from './StartSteps.tsx'

const w = entryWords.setup
const here = getRouteApi('/setup')
const steps = 4

/** First-time setup in four steps: owner, organization, target, key. */
export function Setup() {
  const { step: reached, organization } = here.useSearch()
  const step = reached === '2' || reached === '3' || reached === '4' ? Number(reached) : 1
  const navigate = here.useNavigate()
  const go = (next: number, patch: { organization?: string; key?: string } = {}) =>
    void navigate({ search: (past) => ({ ...past, ...patch, step: String(next) }), replace: true })
  if (organization === undefined) return <OwnerStart step={Math.min(step, 2)} go={go} />
  return (
    <Alone
      wide
      title={step === 4 ? w.key : w.target}
      lead={`${w.step(step, steps)}. ${step === 4 ? w.keyLead : w.targetLead}`}
    >
      {step === 4 ? (
        <KeyStep organization={organization} onIssued={(key) => go(4, { key })} />
      ) : (
        <TargetStep organization={organization} onDone={() => go(4)} />
      )}
    </Alone>
  )
}

function OwnerStart({
  step,
  go,
}: {
  readonly step: number
  readonly go: (step: number, patch?: { organization: string }) => void
}) {
  const { token = '' } = here.useSearch()
  const look = useQuery({
    queryKey: ['setup', token],
    retry: false,
    staleTime: Infinity,
    queryFn: () => call('POST /setup/look', { body: { token } }, { quiet: true }),
  })
  if (look.isPending) return <Loading what={w.checking} />
  if (look.data?.open !== true) {
    return (
      <Alone title={w.used} lead={w.usedText}>
        <Snippet label="npx" text="npx interceptd setup-link" />
        <p>
          <a href="/sign-in">{w.alreadySignedIn}</a>
        </p>
      </Alone>
    )
  }
  return (
    <Alone
      title={w.title}
      lead={`${w.step(step, steps)}. ${step === 1 ? w.youLead : w.organizationLead}`}
    >
      <Card>
        <OwnerSteps
          token={token}
          step={step}
          onStep={go}
          onDone={(organization) => go(3, { organization })}
        />
      </Card>
    </Alone>
  )
}
