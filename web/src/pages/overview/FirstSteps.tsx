import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { firstSteps } from '../../api/choices.ts'
import { firstStepsQuery } from '../../api/traffic.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Card, Item, Items } from '../../parts/Surface.tsx'

export function FirstStepsCard({ organization }: { readonly organization: string }) {
  const done = useQuery(firstStepsQuery(organization))
  const [hidden, setHidden] = useState(() => readHidden(organization))
  if (done.data === undefined || hidden) return undefined
  const facts = done.data
  const finished = firstSteps.filter((step) => facts[step]).length
  if (finished === firstSteps.length) return undefined
  function hide() {
    setHidden(true)
    try {
      localStorage.setItem(storageName(organization), 'hidden')
    } catch {
      // Storage is unavailable, so the card stays hidden only until the next load.
    }
  }
  return (
    <Card
      flush
      title={w.firstSteps}
      lead={w.stepsLead(finished, firstSteps.length)}
      actions={
        <Button small look="quiet" onClick={hide}>
          {w.hide}
        </Button>
      }
    >
      <Items>
        {firstSteps.map((step) => {
          const [title, text] = w.steps[step]
          return (
            <Item
              key={step}
              mark={facts[step] ? 'done' : 'open'}
              action={
                facts[step] ? undefined : <StepAction organization={organization} step={step} />
              }
            >
              {facts[step] ? <span className="muted">{title}</span> : <strong>{title}</strong>}
              {facts[step] ? undefined : <p className="muted">{text}</p>}
            </Item>
          )
        })}
      </Items>
    </Card>
  )
}

function StepAction({
  organization,
  step,
}: {
  readonly organization: string
  readonly step: (typeof firstSteps)[number]
}) {
  const params = { organization }
  const label = w.steps[step][2]
  switch (step) {
    case 'target':
      return (
        <ButtonLink small to="/o/$organization/targets" params={params} search={{ add: 'now' }}>
          {label}
        </ButtonLink>
      )
    case 'key':
      return (
        <ButtonLink small to="/o/$organization/keys" params={params} search={{ issue: 'now' }}>
          {label}
        </ButtonLink>
      )
    case 'call':
      return (
        <ButtonLink small to="/o/$organization/calls" params={params} search={{ live: 'on' }}>
          {label}
        </ButtonLink>
      )
    case 'endpoint':
      return (
        <ButtonLink small to="/o/$organization/webhooks" params={params} search={{ add: 'now' }}>
          {label}
        </ButtonLink>
      )
    case 'invited':
      return (
        <ButtonLink
          small
          to="/o/$organization/members"
          params={params}
          search={{ tab: 'invitations' }}
        >
          {label}
        </ButtonLink>
      )
  }
}

function storageName(organization: string): string {
  return `first-steps:${organization}`
}

function readHidden(organization: string): boolean {
  try {
    return localStorage.getItem(storageName(organization)) !== null
  } catch {
    return false
  }
}
