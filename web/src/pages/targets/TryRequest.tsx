import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { methods } from '../../api/choices.ts'
import { call } from '../../api/call.ts'
import type { Target, Tried } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { FullLine } from '../../parts/Line.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card, Notice } from '../../parts/Surface.tsx'
import { KeyPicker } from '../keys/KeyPicker.tsx'
import { useKeyChoice } from '../keys/useKeyChoice.ts'
import classes from './targets.module.css'

const w = targetsWords.try

interface Start {
  readonly key?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly address?: string | undefined
}

interface TryRequestProps {
  readonly organization: string
  readonly target: Target
  readonly start: Start
  readonly unsaved: boolean
  readonly onDecided: (ruleId: string | undefined) => void
}

/** Has the server run a call's checks and shows the decision; nothing is forwarded, counted or recorded. */
export function TryRequest(props: TryRequestProps) {
  const { organization, target, start } = props
  const key = useKeyChoice(organization, start.key)
  const [request, setRequest] = useState({
    method: start.method ?? 'GET',
    path: start.path ?? '/',
    address: start.address ?? '',
  })
  const attempt = useMutation({
    mutationFn: async () => {
      const { method, path } = request
      const [keyId, address] = [await key.idOf(), request.address.trim()]
      return await call('POST /organizations/:organization/targets/:target/try', {
        path: { organization, target: target.slug },
        body: {
          method,
          path,
          ...(keyId === '' ? {} : { key_id: keyId }),
          ...(address === '' ? {} : { address }),
        },
      })
    },
    onSuccess: (answer) => props.onDecided(answer.rule_id),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    attempt.mutate()
  }
  return (
    <Card title={w.title} lead={w.lead}>
      <form className="stack" onSubmit={submit}>
        {props.unsaved ? <Notice tone="caution">{w.unsaved}</Notice> : undefined}
        <KeyPicker organization={organization} label={w.key} {...key.picker} />
        <RequestFields request={request} onRequest={setRequest} />
        <div>
          <Button type="submit" look="primary" busy={attempt.isPending}>
            {w.action}
          </Button>
        </div>
      </form>
      {attempt.isError ? <ProblemNotice error={attempt.error} /> : undefined}
      {attempt.data === undefined ? undefined : <Result answer={attempt.data} target={target} />}
    </Card>
  )
}

interface Request {
  readonly method: string
  readonly path: string
  readonly address: string
}

function RequestFields({
  request,
  onRequest,
}: {
  readonly request: Request
  readonly onRequest: (request: Request) => void
}) {
  const put = (patch: Partial<Request>) => onRequest({ ...request, ...patch })
  return (
    <>
      <div className={classes.two}>
        <SelectField
          label={w.method}
          value={request.method}
          options={methods.map((value) => ({ value, label: value }))}
          onValue={(method) => put({ method })}
        />
        <TextField label={w.path} code value={request.path} onValue={(path) => put({ path })} />
      </div>
      <TextField
        label={w.address}
        code
        value={request.address}
        placeholder="203.0.113.7"
        onValue={(address) => put({ address })}
      />
    </>
  )
}

function Result({ answer, target }: { readonly answer: Tried; readonly target: Target }) {
  const number = target.rules.findIndex((rule) => rule.id === answer.rule_id) + 1
  return (
    <div className={classes.answer} role="status">
      <h3 className={answer.allowed ? classes.good : classes.bad}>
        {answer.allowed ? w.allowed : w.refused}
      </h3>
      <FullLine stoppedAt={answer.stopped_at} />
      <p className="break">
        {number > 0 && answer.detail === undefined ? `${w.byRule(number)} ` : ''}
        {answer.otherwise !== undefined && answer.detail === undefined ? `${w.byLastLine} ` : ''}
        {answer.detail ?? ''} {answer.code === undefined ? '' : w.gets(answer.status, answer.code)}
      </p>
      {(answer.would_refuse ?? []).length > 0 ? <p className="muted">{w.trialWould}</p> : undefined}
    </div>
  )
}
