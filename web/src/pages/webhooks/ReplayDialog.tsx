import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { webhookWords } from '../../../words/en/webhooks.ts'
import type { DeliveryFilter } from '../../api/webhook-shapes.ts'
import { endpointsQuery, replayCountQuery, startReplay } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Notice } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { since, sinceLengths } from './since.ts'
import { endpointName } from './states.tsx'

const w = webhookWords.replay

/** Which deliveries to resend: missed ones, or those that match the filters with which the dialog was opened. */
interface Draft {
  readonly what: 'missed' | 'filtered'
  readonly endpoint: string
  readonly length: string
}

export function ReplayDialog({
  start,
  onClose,
}: {
  readonly start: DeliveryFilter
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const narrow = Object.keys(start).some((name) => name !== 'endpoint')
  const [draft, setDraft] = useState<Draft>({
    what: narrow ? 'filtered' : 'missed',
    endpoint: start.endpoint ?? '',
    length: '',
  })
  const filter = useMemo(() => filterOf(draft, start), [draft, start])
  const counted = useQuery(replayCountQuery(slug, filter))
  const replay = useReplay(filter)
  return (
    <FormDialog
      onClose={onClose}
      title={w.title}
      lead={w.lead}
      action={w.action}
      saving={replay}
      disabled={(counted.data?.deliveries ?? 0) === 0 || counted.isFetching}
      onSubmit={() => replay.mutate()}
    >
      {narrow ? (
        <SelectField
          label={w.what}
          value={draft.what}
          options={[
            { value: 'filtered', label: w.filtered },
            { value: 'missed', label: w.missed },
          ]}
          onValue={(value) =>
            setDraft({ ...draft, what: value === 'filtered' ? 'filtered' : 'missed' })
          }
        />
      ) : undefined}
      {draft.what === 'missed' ? <Missed draft={draft} onDraft={setDraft} /> : undefined}
      {counted.isError ? (
        <ProblemNotice error={counted.error} retry={() => void counted.refetch()} />
      ) : (
        <Notice live tone={counted.data?.deliveries === 0 ? 'plain' : 'caution'}>
          <p>{counted.data === undefined ? w.counting : w.count(counted.data.deliveries)}</p>
        </Notice>
      )}
    </FormDialog>
  )
}

function Missed({
  draft,
  onDraft,
}: {
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}) {
  const { slug } = useOrganization()
  const endpoints = useQuery(endpointsQuery(slug)).data?.items ?? []
  return (
    <>
      <SelectField
        label={w.endpoint}
        value={draft.endpoint}
        options={[
          { value: '', label: w.everyEndpoint },
          ...endpoints.map((one) => ({ value: one.id, label: endpointName(one) })),
        ]}
        onValue={(endpoint) => onDraft({ ...draft, endpoint })}
      />
      <SelectField
        label={w.since}
        value={draft.length}
        options={['', ...sinceLengths].map((value) => ({
          value,
          label: w.sinceChoices[value as keyof typeof w.sinceChoices],
        }))}
        onValue={(length) => onDraft({ ...draft, length })}
      />
    </>
  )
}

function useReplay(filter: DeliveryFilter) {
  const { slug } = useOrganization()
  const navigate = useNavigate()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => startReplay(slug, filter),
    onSuccess: async (operation) => {
      say(w.started)
      void client.invalidateQueries({ queryKey: [slug, 'operations'] })
      await navigate({
        to: '/o/$organization/operations/$operation',
        params: { organization: slug, operation: operation.id },
      })
    },
  })
}

function filterOf({ what, endpoint, length }: Draft, start: DeliveryFilter): DeliveryFilter {
  if (what === 'filtered') return start
  const from = since(length)
  return {
    state: 'missed',
    ...(endpoint === '' ? {} : { endpoint }),
    ...(from === undefined ? {} : { from }),
  }
}
