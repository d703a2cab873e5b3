import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { webhookWords } from '../../../words/en/webhooks.ts'
import type { Attempt, DeliveryDetail, Endpoint } from '../../api/webhook-shapes.ts'
import { deliveryQuery, replayDelivery } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { BodySnippet, CopyText, Snippet } from '../../parts/Copy.tsx'
import { Drawer } from '../../parts/Dialogs.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { duration, size } from '../../parts/numbers.ts'
import { QueryState } from '../../parts/States.tsx'
import { Badge, Facts } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { answerText, DeliveryBadge, nameOfEndpoint, succeeded } from './states.tsx'
import { signatureCommand } from './verify.ts'
import classes from './webhooks.module.css'

const w = webhookWords.delivery

export function DeliveryDrawer({
  id,
  endpoints,
  onClose,
}: {
  readonly id: string | undefined
  readonly endpoints: readonly Endpoint[] | undefined
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const found = useQuery({ ...deliveryQuery(slug, id ?? ''), enabled: id !== undefined })
  const delivery = found.data
  return (
    <Drawer open={id !== undefined} onClose={onClose} title={delivery?.type ?? id ?? ''}>
      {delivery === undefined ? (
        <QueryState query={found} />
      ) : (
        <Detail delivery={delivery} endpoints={endpoints} />
      )}
    </Drawer>
  )
}

function Detail({
  delivery,
  endpoints,
}: {
  readonly delivery: DeliveryDetail
  readonly endpoints: readonly Endpoint[] | undefined
}) {
  const { slug, may } = useOrganization()
  return (
    <div className="stack">
      <div className="row between">
        <DeliveryBadge delivery={delivery} />
        {may('deliveries.replay') ? <Replay id={delivery.id} /> : undefined}
      </div>
      <Facts facts={factsOf(delivery, endpoints, slug)} />
      <Link
        to="/o/$organization/webhooks/deliveries"
        params={{ organization: slug }}
        search={{ event: delivery.event_id }}
      >
        {w.otherOfEvent}
      </Link>
      <section className="stack-tight">
        <h3>{w.attempts}</h3>
        {delivery.attempt_list.length === 0 ? (
          <p className="muted">{w.noAttempts}</p>
        ) : (
          <ol className={classes.attempts}>
            {delivery.attempt_list.toReversed().map((attempt) => (
              <AttemptLine key={attempt.id} attempt={attempt} />
            ))}
          </ol>
        )}
      </section>
      <Body delivery={delivery} />
    </div>
  )
}

function Replay({ id }: { readonly id: string }) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const replay = useMutation({
    mutationFn: () => replayDelivery(slug, id),
    onSuccess: ({ state }) =>
      state === 'held' ? say(w.replayedHeld, { text: w.replayedHeldText }) : say(w.replayed),
    onError: sayRefused,
    onSettled: () => void client.invalidateQueries({ queryKey: [slug, 'webhooks'] }),
  })
  return (
    <Button busy={replay.isPending} onClick={() => replay.mutate()}>
      {w.replay}
    </Button>
  )
}

function factsOf(
  delivery: DeliveryDetail,
  endpoints: readonly Endpoint[] | undefined,
  organization: string,
): Parameters<typeof Facts>[0]['facts'] {
  const { due_at: dueAt, completed_at: completedAt, endpoint_id: endpoint } = delivery
  const isDue = delivery.state === 'pending' && dueAt !== undefined
  return [
    [
      w.facts.endpoint,
      <Link
        key="endpoint"
        to="/o/$organization/webhooks/$endpoint"
        params={{ organization, endpoint }}
      >
        {nameOfEndpoint(delivery, endpoints)}
      </Link>,
    ],
    [w.facts.created, <Time key="created" at={delivery.created_at} />],
    [w.facts.next, isDue ? <Time key="next" at={dueAt} form="relative" /> : undefined],
    [w.facts.ended, completedAt === undefined ? undefined : <Time key="ended" at={completedAt} />],
    [w.facts.skipped, skippedText(delivery.skipped_reason)],
    [w.facts.event, <CopyText key="event" text={delivery.event_id} what={w.facts.event} />],
    [w.facts.id, <CopyText key="id" text={delivery.id} what={w.facts.id} />],
    [w.facts.sequence, delivery.event_sequence],
  ]
}

function Body({ delivery }: { readonly delivery: DeliveryDetail }) {
  const { body } = delivery
  const last = delivery.attempt_list.at(-1)
  return (
    <>
      <section className="stack-tight">
        <h3>{w.body}</h3>
        {body === undefined ? (
          <p className="muted">{w.bodyGone}</p>
        ) : (
          <>
            <p className="muted">{w.bodyLead(size(new TextEncoder().encode(body).length))}</p>
            <BodySnippet text={body} label={w.body} />
          </>
        )}
      </section>
      {last === undefined || body === undefined ? undefined : (
        <Folded title={w.verify}>
          <p className="muted">{w.verifyLead}</p>
          <Snippet
            label={w.verifyName}
            text={signatureCommand({
              event_id: delivery.event_id,
              atSeconds: Math.floor(Date.parse(last.started_at) / 1000),
              body,
            })}
          />
        </Folded>
      )}
    </>
  )
}

function AttemptLine({ attempt }: { readonly attempt: Attempt }) {
  return (
    <li>
      <div className="row">
        <strong>{w.attempt(attempt.number)}</strong>
        <Badge tone={succeeded(attempt) ? 'pass' : 'refuse'}>
          {answerText(attempt.status, attempt.failure)}
        </Badge>
        <Time at={attempt.started_at} />
        <span className="muted">{duration(attempt.duration_ms)}</span>
        {attempt.probe ? <span className="muted">{w.probe}</span> : undefined}
      </div>
      {attempt.answer === undefined || attempt.answer === '' ? (
        <span className="muted small break">{reasonText(attempt.failure) ?? w.noAnswer}</span>
      ) : (
        <Folded title={attempt.answer_truncated ? w.answerCut : w.answer}>
          <BodySnippet text={attempt.answer} label={w.answer} />
        </Folded>
      )}
    </li>
  )
}

/** The description of a failure, without the kind before the colon; undefined if there is only a kind. */
function reasonText(failure: string | undefined): string | undefined {
  const colon = failure?.indexOf(': ') ?? -1
  return colon < 0 ? undefined : failure?.slice(colon + 2)
}

function skippedText(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined
  return (w.skippedReasons as Readonly<Record<string, string>>)[reason] ?? reason
}
