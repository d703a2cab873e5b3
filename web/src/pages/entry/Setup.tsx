import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
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

/** The first start in four steps: you, organization, target, key. Each can be skipped and found again. */
export function Setup() {
  const { token = '' } = here.useSearch()
  const [step, setStep] = useState(1)
  const [organization, setOrganization] = useState<string>()
  const look = useQuery({
    queryKey: ['setup', token],
    retry: false,
    staleTime: Infinity,
    queryFn: () => call('POST /setup/look', { body: { token } }, { quiet: true }),
  })
  if (organization !== undefined) {
    return (
      <Alone
        wide
        title={step === 3 ? w.target : w.key}
        lead={`${w.step(step, steps)}. ${step === 3 ? w.targetLead : w.keyLead}`}
      >
        {step === 3 ? (
          <TargetStep organization={organization} onDone={() => setStep(4)} />
        ) : (
          <KeyStep organization={organization} />
        )}
      </Alone>
    )
  }
  if (look.isPending) return <Loading what={w.checking} />
  if (look.data?.open !== true) {
    return (
      <Alone title={w.used} lead={w.usedText}>
        <Snippet label="npx" text="npx intercept setup-link" />
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
          onStep={setStep}
          onDone={(slug) => {
            setOrganization(slug)
            setStep(3)
          }}
        />
      </Card>
    </Alone>
  )
}
