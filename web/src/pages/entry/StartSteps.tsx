import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/call.ts'
import { addTarget, echoTarget, targetsQuery } from '../../api/targets.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { TextField } from '../../parts/Field.tsx'
import { fieldError, Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { FirstCall, KeySnippets } from '../keys/KeySecret.tsx'

const w = entryWords.setup
const here = getRouteApi('/setup')

/** Step 3, which can be skipped: adds a target. */
export function TargetStep({
  organization,
  onDone,
}: {
  readonly organization: string
  readonly onDone: () => void
}) {
  const [added, setAdded] = useState<string>()
  const reach = useMutation({
    mutationFn: (target: string) =>
      call('POST /organizations/:organization/targets/:target/reach', {
        path: { organization, target },
      }),
    onSuccess: onDone,
  })
  return (
    <Card>
      {added === undefined ? (
        <TargetForm
          organization={organization}
          onSkip={onDone}
          onAdded={(slug) => {
            setAdded(slug)
            if (slug === echoTarget.slug) onDone()
            else reach.mutate(slug)
          }}
        />
      ) : (
        <Unreached
          {...{ organization, target: added, error: reach.error, isBusy: reach.isPending }}
          onAgain={() => reach.mutate(added)}
          onDone={onDone}
        />
      )}
    </Card>
  )
}

function Unreached({
  organization,
  target,
  error,
  isBusy,
  onAgain,
  onDone,
}: {
  readonly organization: string
  readonly target: string
  readonly error: unknown
  readonly isBusy: boolean
  readonly onAgain: () => void
  readonly onDone: () => void
}) {
  const [upstream, setUpstream] = useState('')
  const mend = useMutation({
    mutationFn: () =>
      call('PATCH /organizations/:organization/targets/:target', {
        path: { organization, target },
        body: { upstream: upstream.trim() },
      }),
    onSuccess: onAgain,
  })
  if (isBusy || error === null) return <Loading what={w.reaching} />
  function submit(event: FormEvent) {
    event.preventDefault()
    if (upstream.trim() === '') onAgain()
    else mend.mutate()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <ProblemNotice error={error} title={w.notReached} />
      <TextField
        label={w.otherUpstream}
        hint={w.otherUpstreamHint}
        code
        inputMode="url"
        error={fieldError(mend.error, 'upstream')}
        value={upstream}
        onValue={setUpstream}
      />
      {mend.isError ? <ProblemNotice error={mend.error} /> : undefined}
      <div className="row end">
        <Button look="quiet" onClick={onDone}>
          {w.goOnAnyway}
        </Button>
        <Button type="submit" look="primary" busy={mend.isPending}>
          {w.testAgain}
        </Button>
      </div>
    </form>
  )
}

function TargetForm({
  organization,
  onSkip,
  onAdded,
}: {
  readonly organization: string
  readonly onSkip: () => void
  readonly onAdded: (slug: string) => void
}) {
  const [upstream, setUpstream] = useState('')
  const [slug, setSlug] = useState('')
  const add = useMutation({
    mutationFn: (target: { slug: string; upstream: string }) => addTarget(organization, target),
    onSuccess: (target) => onAdded(target.slug),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    add.mutate({ slug: slug.trim(), upstream: upstream.trim() })
  }
  return (
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
        <Button look="quiet" onClick={onSkip}>
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
  )
}

/** Step 4: issues a key with the organization's defaults. */
export function KeyStep({
  organization,
  onIssued,
}: {
  readonly organization: string
  readonly onIssued: (key: string) => void
}) {
  const { key: before } = here.useSearch()
  const targets = useQuery(targetsQuery(organization))
  const issue = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/keys', {
        path: { organization },
        body: { name: w.keyName },
      }),
    onSuccess: ({ key }) => onIssued(key.id),
  })
  const issued = issue.data
  return (
    <Card>
      <div className="stack">
        {issued === undefined ? (
          <NotShown organization={organization} before={before} error={issue.error} />
        ) : (
          <>
            <Snippet label={keysWords.keyName} text={issued.secret} />
            <p className="muted">{keysWords.issuedLead}</p>
            <KeySnippets
              scheme={issued.key.scheme}
              secret={issued.secret}
              target={targets.data?.items[0]?.slug}
            />
            <p className="muted">{keysWords.clientSide}</p>
            <FirstCall organization={organization} keyId={issued.key.id} />
          </>
        )}
        <div className="row end">
          <Finish
            organization={organization}
            label={(issued ?? before) === undefined ? w.skip : w.finish}
          />
          {issued === undefined ? (
            <Button
              look={before === undefined ? 'primary' : 'plain'}
              busy={issue.isPending}
              onClick={() => issue.mutate()}
            >
              {before === undefined ? w.issue : w.issueAnother}
            </Button>
          ) : undefined}
        </div>
      </div>
    </Card>
  )
}

/** A secret is shown only once: after a reload, this text takes the place of the key. */
function NotShown({
  organization,
  before,
  error,
}: {
  readonly organization: string
  readonly before: string | undefined
  readonly error: Error | null
}) {
  return (
    <>
      {before === undefined ? undefined : (
        <>
          <p>{w.keyWasShown}</p>
          <FirstCall organization={organization} keyId={before} />
        </>
      )}
      {error === null ? undefined : <ProblemNotice error={error} />}
    </>
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
