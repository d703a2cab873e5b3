import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/call.ts'
import { addTarget, echoTarget, targetsQuery } from '../../api/targets.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { TextField } from '../../parts/Field.tsx'
import { fieldError, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { FirstCall, KeySnippets } from '../keys/KeySecret.tsx'

const w = entryWords.setup

/** Step 3: the address of an API. */
export function TargetStep({
  organization,
  onDone,
}: {
  readonly organization: string
  readonly onDone: () => void
}) {
  const [upstream, setUpstream] = useState('')
  const [slug, setSlug] = useState('')
  const add = useMutation({
    mutationFn: (target: { slug: string; upstream: string }) => addTarget(organization, target),
    onSuccess: onDone,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    add.mutate({ slug: slug.trim(), upstream: upstream.trim() })
  }
  return (
    <Card>
      <form className="stack" onSubmit={submit}>
        <TextField
          label={targetsWords.form.upstream}
          hint={targetsWords.form.upstreamHint}
          code
          inputMode="url"
          required
          error={fieldError(add.error, 'upstream')}
          value={upstream}
          onValue={setUpstream}
        />
        <TextField
          label={targetsWords.form.slug}
          hint={targetsWords.form.slugHint}
          code
          required
          error={fieldError(add.error, 'slug')}
          value={slug}
          onValue={setSlug}
        />
        <p className="muted small">{targetsWords.echoHint}</p>
        {add.isError ? <ProblemNotice error={add.error} /> : undefined}
        <div className="row end">
          <Button look="quiet" onClick={onDone}>
            {w.skip}
          </Button>
          <Button busy={add.isPending} onClick={() => add.mutate(echoTarget)}>
            {targetsWords.addEcho}
          </Button>
          <Button type="submit" look="primary" busy={add.isPending}>
            {w.addTarget}
          </Button>
        </div>
      </form>
    </Card>
  )
}

/** Step 4: a key with defaults, the line to run, and the light that waits for the call. */
export function KeyStep({ organization }: { readonly organization: string }) {
  const targets = useQuery(targetsQuery(organization))
  const issue = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys', {
        path: { organization },
        body: { name: w.keyName },
      }),
  })
  if (issue.data === undefined) {
    return (
      <Card>
        <div className="stack">
          {issue.isError ? <ProblemNotice error={issue.error} /> : undefined}
          <div className="row end">
            <Finish organization={organization} label={w.skip} />
            <Button look="primary" busy={issue.isPending} onClick={() => issue.mutate()}>
              {w.issue}
            </Button>
          </div>
        </div>
      </Card>
    )
  }
  return (
    <Card>
      <div className="stack">
        <Snippet label={keysWords.keyName} text={issue.data.secret} />
        <p className="muted">{keysWords.issuedLead}</p>
        <KeySnippets
          scheme={issue.data.key.scheme}
          secret={issue.data.secret}
          target={targets.data?.items[0]?.slug}
        />
        <p className="muted">{keysWords.clientSide}</p>
        <FirstCall organization={organization} keyId={issue.data.key.id} />
        <div className="row end">
          <Finish organization={organization} label={w.finish} />
        </div>
      </div>
    </Card>
  )
}

function Finish({
  organization,
  label,
}: {
  readonly organization: string
  readonly label: string
}) {
  return (
    <ButtonLink to="/o/$organization" params={{ organization }}>
      {label}
    </ButtonLink>
  )
}
