import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { operationWords as w } from '../../../words/en/operations.ts'
import type { Operation as OperationShape, OperationState } from '../../api/webhook-shapes.ts'
import { operationQuery, steerOperation } from '../../api/operations.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { cx } from '../../parts/cx.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { count, duration } from '../../parts/numbers.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Badge, Card, Facts, Notice, PageHead, Pile, type Tone } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { sayRefused } from '../../parts/Toasts.tsx'
import classes from './webhooks.module.css'

const here = getRouteApi('/frame/o/$organization/operations/$operation')
const tones: Readonly<Record<OperationState, Tone>> = {
  running: 'plain',
  paused: 'caution',
  cancelled: 'plain',
  done: 'pass',
  failed: 'refuse',
}

export function Operation() {
  const { slug } = useOrganization()
  const { operation: id } = here.useParams()
  const found = useQuery(operationQuery(slug, id))
  if (found.data !== undefined) return <Body operation={found.data} />
  if (found.isError) return <ProblemNotice error={found.error} retry={() => void found.refetch()} />
  return <Loading />
}

function Body({ operation }: { readonly operation: OperationShape }) {
  const { slug } = useOrganization()
  const { state } = operation
  const params = { organization: slug }
  return (
    <>
      <PageHead
        title={w.kinds[operation.kind] ?? w.other}
        back={
          <Link to="/o/$organization/webhooks" params={params}>
            {w.back}
          </Link>
        }
        lead={state === 'running' || state === 'paused' ? w.lead : undefined}
      >
        <Steering operation={operation} />
      </PageHead>
      <Pile>
        <Progress operation={operation} />
        {state === 'failed' ? (
          <Notice tone="refuse" title={w.failedTitle}>
            <p>{operation.error}</p>
          </Notice>
        ) : undefined}
        <Card>
          <Facts facts={factsOf(operation)} />
        </Card>
        <div>
          <Link to="/o/$organization/webhooks/deliveries" params={params} className={buttonClass()}>
            {w.toDeliveries}
          </Link>
        </div>
      </Pile>
    </>
  )
}

function Progress({ operation }: { readonly operation: OperationShape }) {
  const { state, done, total } = operation
  const said = w.progress(count(done), count(total))
  return (
    <Card label={w.states[state]}>
      <div className="stack-tight">
        <div className="row between">
          <span className={classes.big}>{said}</span>
          <Badge tone={tones[state]}>{w.states[state]}</Badge>
        </div>
        <progress
          className={cx(classes.progress, state === 'running' && classes.live)}
          max={Math.max(1, total)}
          value={total === 0 ? 1 : done}
          aria-label={said}
        />
        <p className="muted">{rateText(operation)}</p>
      </div>
    </Card>
  )
}

function factsOf(operation: OperationShape): Parameters<typeof Facts>[0]['facts'] {
  const { finished_at: finishedAt } = operation
  return [
    [w.facts.by, operation.created_by_name],
    [w.facts.started, <Time key="started" at={operation.created_at} />],
    [w.facts.updated, <Time key="updated" at={operation.updated_at} />],
    [w.facts.ended, finishedAt === undefined ? undefined : <Time key="ended" at={finishedAt} />],
    [w.facts.id, <CopyText key="id" text={operation.id} what={w.facts.id} />],
  ]
}

function Steering({ operation }: { readonly operation: OperationShape }) {
  const { slug, may } = useOrganization()
  const client = useQueryClient()
  const [asking, setAsking] = useState(false)
  const steering = useMutation({
    mutationFn: (verb: 'pause' | 'resume' | 'cancel') => steerOperation(slug, operation.id, verb),
    onSuccess: () => setAsking(false),
    onError: sayRefused,
    onSettled: () => void client.invalidateQueries({ queryKey: [slug, 'operations'] }),
  })
  const { state } = operation
  if ((state !== 'running' && state !== 'paused') || !may('deliveries.replay')) return undefined
  const other = state === 'running' ? 'pause' : 'resume'
  return (
    <>
      <Button busy={steering.isPending} onClick={() => steering.mutate(other)}>
        {w[other]}
      </Button>
      <Button look="danger" onClick={() => setAsking(true)}>
        {w.cancel}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.cancelTitle}
        action={w.cancel}
        saving={{ isPending: steering.isPending }}
        onConfirm={() => steering.mutate('cancel')}
      >
        <p>{w.cancelText(count(operation.done))}</p>
      </ConfirmDialog>
    </>
  )
}

function rateText(operation: OperationShape): string | undefined {
  const { state, done, total, created_at: createdAt, updated_at: updatedAt } = operation
  if (state === 'done') return w.doneText(count(done))
  if (state === 'cancelled') return w.cancelledText(count(done), count(total))
  const seconds = (Date.parse(updatedAt) - Date.parse(createdAt)) / 1000
  if (state !== 'running' || done === 0 || seconds <= 0) return undefined
  const perSecond = done / seconds
  return w.rate(count(Math.round(perSecond)), duration(((total - done) / perSecond) * 1000))
}
