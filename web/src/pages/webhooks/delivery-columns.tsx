import { webhookWords } from '../../../words/en/webhooks.ts'
import type { Delivery, Endpoint } from '../../api/webhook-shapes.ts'
import { onNarrow, type Column } from '../../parts/DataTable.tsx'
import { Time } from '../../parts/Time.tsx'
import { zoneShort } from '../../parts/zone.ts'
import { answerText, DeliveryBadge, nameOfEndpoint } from './states.tsx'

const w = webhookWords.deliveries

export function deliveryColumns(
  endpoints: readonly Endpoint[] | undefined,
  withEndpoint: boolean,
): readonly Column<Delivery>[] {
  const columns: Column<Delivery>[] = [
    {
      id: 'time',
      head: `${w.columns.time} (${zoneShort()})`,
      width: '140px',
      hide: 'narrow',
      cell: (one) => <Time at={one.created_at} form="row" />,
    },
    { id: 'type', head: w.columns.type, cell: (one) => <TypeWithTime delivery={one} /> },
    {
      id: 'endpoint',
      head: w.columns.endpoint,
      hide: 'narrow',
      cell: (one) => nameOfEndpoint(one, endpoints),
    },
    {
      id: 'state',
      head: w.columns.state,
      width: '116px',
      cell: (one) => <DeliveryBadge delivery={one} />,
    },
    {
      id: 'attempts',
      head: w.columns.attempts,
      width: '84px',
      end: true,
      hide: 'medium',
      cell: (one) => one.attempts_ever,
    },
    {
      id: 'answer',
      head: w.columns.answer,
      width: '150px',
      hide: 'medium',
      cell: (one) => answerText(one.last_status, one.last_failure),
    },
    {
      id: 'next',
      head: w.columns.next,
      width: '132px',
      hide: 'medium',
      cell: (one) =>
        one.state === 'pending' && one.due_at !== undefined ? (
          <Time at={one.due_at} form="relative" />
        ) : (
          <span className="muted">–</span>
        ),
    },
  ]
  return withEndpoint ? columns : columns.filter((column) => column.id !== 'endpoint')
}

function TypeWithTime({ delivery }: { readonly delivery: Delivery }) {
  return (
    <>
      <code>{delivery.type}</code>
      <span className={onNarrow}>
        <Time at={delivery.created_at} form="row" />
      </span>
    </>
  )
}
