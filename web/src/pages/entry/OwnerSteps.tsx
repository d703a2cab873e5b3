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

const w = entryWords.setup

/** Steps 1 and 2: values are carried, sent together, and sign the owner in. */
export function OwnerSteps({
  token,
  step,
  onStep,
  onDone,
}: {
  readonly token: string
  readonly step: number
  readonly onStep: (step: number) => void
  readonly onDone: (slug: string) => void
}) {
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [organization, setOrganization] = useState('')
  const [slug, setSlug] = useState<string>()
  const [cookieLost, setCookieLost] = useState(false)
  const create = useMutation({
    mutationFn: (existing: boolean) =>
      call(
        'POST /setup',
        {
          body: {
            token,
            name: name.trim(),
            email: email.trim(),
            organization: {
              slug: slug ?? slugOf(organization),
              name: organization.trim(),
              ...(existing ? { existing } : {}),
            },
          },
        },
        { quiet: true },
      ),
    onSuccess: async (made) => {
      try {
        await client.fetchQuery({ ...meQuery, staleTime: 0 })
        onDone(made.organization.slug)
      } catch (error) {
        if (error instanceof Refused && error.status === 401) setCookieLost(true)
      }
    },
  })
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
        <>
          <TextField
            key="name"
            label={w.name}
            autoComplete="name"
            required
            maxLength={100}
            error={fieldError(create.error, 'name')}
            value={name}
            onValue={setName}
          />
          <TextField
            key="email"
            label={w.email}
            type="email"
            autoComplete="email"
            required
            maxLength={254}
            error={fieldError(create.error, 'email')}
            value={email}
            onValue={setEmail}
          />
        </>
      ) : (
        <>
          <TextField
            key="organization"
            autoFocus
            label={w.organizationName}
            autoComplete="organization"
            required
            maxLength={100}
            error={fieldError(create.error, 'organization.name')}
            value={organization}
            onValue={setOrganization}
          />
          <TextField
            key="slug"
            label={w.slug}
            hint={w.slugHint}
            code
            required
            maxLength={40}
            error={fieldError(create.error, 'organization.slug')}
            value={slug ?? slugOf(organization)}
            onValue={setSlug}
          />
        </>
      )}
      {step === 2 && isTaken(create.error) ? (
        <Notice tone="caution" title={w.takenTitle(slug ?? slugOf(organization))}>
          <p>{w.takenText}</p>
          <Button busy={create.isPending} onClick={() => create.mutate(true)}>
            {w.own(slug ?? slugOf(organization))}
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

function isTaken(error: Error | null): boolean {
  return error instanceof Refused && error.code === 'conflict'
}
