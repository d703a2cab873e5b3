import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, Refused } from '../../api/call.ts'
import { meQuery } from '../../api/me.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { Button } from '../../parts/Button.tsx'
import { TextField } from '../../parts/Field.tsx'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { Notice } from '../../parts/Surface.tsx'
import { slugOf } from './slug.ts'
import { forgetKept, useKept } from './useKept.ts'

const w = entryWords.setup

interface OwnerStepsProps {
  readonly token: string
  readonly step: number
  readonly onStep: (step: number) => void
  readonly onDone: (slug: string) => void
}

const keptNames = ['setup-name', 'setup-email', 'setup-organization', 'setup-slug'] as const

/** The values of steps 1 and 2, which survive a reload. */
function useDraft() {
  const [name, setName] = useKept(keptNames[0])
  const [email, setEmail] = useKept(keptNames[1])
  const [organization, setOrganization] = useKept(keptNames[2])
  const [typedSlug, setSlug] = useKept(keptNames[3])
  const slug = typedSlug === '' ? slugOf(organization) : typedSlug
  return { name, setName, email, setEmail, organization, setOrganization, slug, setSlug }
}
type Draft = ReturnType<typeof useDraft>

/** Submits the values of steps 1 and 2 in one request, which also signs the first owner in. */
function useCreate(token: string, draft: Draft, onDone: (slug: string) => void) {
  const client = useQueryClient()
  const [cookieLost, setCookieLost] = useState(false)
  const create = useMutation({
    mutationFn: (existing: boolean) => {
      const organization = { slug: draft.slug, name: draft.organization.trim() }
      const body = {
        ...{ token, name: draft.name.trim(), email: draft.email.trim() },
        organization: existing ? { ...organization, existing } : organization,
      }
      return call('POST /setup', { body }, { quiet: true })
    },
    onSuccess: async (made) => {
      forgetKept(...keptNames)
      try {
        await client.fetchQuery({ ...meQuery, staleTime: 0 })
        onDone(made.organization.slug)
      } catch (error) {
        if (error instanceof Refused && error.status === 401) setCookieLost(true)
      }
    },
  })
  return { create, cookieLost }
}

export function OwnerSteps({ token, step, onStep, onDone }: OwnerStepsProps) {
  const draft = useDraft()
  const { create, cookieLost } = useCreate(token, draft, onDone)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (step === 1) onStep(2)
    else create.mutate(false)
  }
  if (cookieLost) {
    return (
      <Notice tone="caution" title={w.cookieTitle}>
        <p>{w.cookieText}</p>
      </Notice>
    )
  }
  return (
    <form className="stack" onSubmit={submit}>
      {step === 1 ? (
        <YouFields draft={draft} error={create.error} />
      ) : (
        <OrganizationFields draft={draft} error={create.error} />
      )}
      {step === 2 && isTaken(create.error) ? (
        <Notice tone="caution" title={w.takenTitle(draft.slug)}>
          <p>{w.takenText}</p>
          <Button busy={create.isPending} onClick={() => create.mutate(true)}>
            {w.own(draft.slug)}
          </Button>
        </Notice>
      ) : create.isError ? (
        <ProblemNotice error={create.error} />
      ) : undefined}
      <div className="row end">
        {step === 2 ? <Button onClick={() => onStep(1)}>{w.back}</Button> : undefined}
        <Button type="submit" look="primary" busy={create.isPending}>
          {step === 1 ? w.next : w.create}
        </Button>
      </div>
    </form>
  )
}

function YouFields({ draft, error }: { readonly draft: Draft; readonly error: unknown }) {
  return (
    <>
      <TextField
        label={w.name}
        autoComplete="name"
        required
        maxLength={100}
        error={fieldError(error, 'name')}
        value={draft.name}
        onValue={draft.setName}
      />
      <TextField
        label={w.email}
        type="email"
        autoComplete="email"
        required
        maxLength={254}
        error={fieldError(error, 'email')}
        value={draft.email}
        onValue={draft.setEmail}
      />
    </>
  )
}

function OrganizationFields({ draft, error }: { readonly draft: Draft; readonly error: unknown }) {
  return (
    <>
      <TextField
        autoFocus
        label={w.organizationName}
        autoComplete="organization"
        required
        maxLength={100}
        error={fieldError(error, 'organization.name')}
        value={draft.organization}
        onValue={draft.setOrganization}
      />
      <TextField
        label={w.slug}
        hint={w.slugHint}
        code
        required
        maxLength={40}
        error={fieldError(error, 'organization.slug')}
        value={draft.slug}
        onValue={draft.setSlug}
      />
    </>
  )
}

function isTaken(error: Error | null): boolean {
  return error instanceof Refused && error.code === 'conflict'
}
