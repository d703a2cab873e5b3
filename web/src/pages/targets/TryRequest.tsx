import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/call.ts'
import { paletteQuery } from '../../api/palette.ts'
import type { Target, Tried } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button } from '../../parts/Button.tsx'
import { SelectField, TextField } from '../../parts/Field.tsx'
import { FullLine } from '../../parts/Line.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card, Notice } from '../../parts/Surface.tsx'
import classes from './targets.module.css'

const w = targetsWords.try
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

interface Start {
  readonly key?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly address?: string | undefined
}

/** The same decision as the real call, without forwarding and without counting. */
export function TryRequest({
  organization,
  target,
  start,
  unsaved,
  onDecided,
}: {
  readonly organization: string
  readonly target: Target
  readonly start: Start
  readonly unsaved: boolean
  readonly onDecided: (ruleId: string | undefined) => void
}) {
  const things = useQuery(paletteQuery(organization))
  const keys = things.data?.keys ?? []
  const [chosen, setChosen] = useState(start.key)
  const [method, setMethod] = useState(start.method ?? 'GET')
  const [path, setPath] = useState(start.path ?? '/')
  const [address, setAddress] = useState(start.address ?? '')
  const keyId = chosen ?? keys[0]?.id ?? ''
  const attempt = useMutation({
    mutationFn: () =>
      call('POST /organizations/:organization/targets/:target/try', {
        path: { organization, target: target.slug },
        body: {
          method,
          path,
          ...(keyId === '' ? {} : { key_id: keyId }),
          ...(address.trim() === '' ? {} : { address: address.trim() }),
        },
      }),
    onSuccess: (answer) => onDecided(answer.rule_id),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    attempt.mutate()
  }
  return (
    <Card title={w.title} lead={w.lead}>
      <form className="stack" onSubmit={submit}>
        {unsaved ? <Notice tone="caution">{w.unsaved}</Notice> : undefined}
        <SelectField
          label={w.key}
          value={keyId}
          options={[
            ...keys.map((key) => ({ value: key.id, label: `${key.name} · ${key.hint}` })),
            { value: '', label: w.noKey },
          ]}
          onValue={setChosen}
        />
        <div className={classes.two}>
          <SelectField
            label={w.method}
            value={method}
            options={methods.map((value) => ({ value, label: value }))}
            onValue={setMethod}
          />
          <TextField label={w.path} code value={path} onValue={setPath} />
        </div>
        <TextField
          label={w.address}
          code
          value={address}
          placeholder="203.0.113.7"
          onValue={setAddress}
        />
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
