import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { webhookWords } from '../../../words/en/webhooks.ts'
import type { Endpoint, EndpointChange } from '../../api/webhook-shapes.ts'
import { eventTypesQuery } from '../../api/webhooks.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Check, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { fieldError } from '../../parts/States.tsx'
import { parseHeaders } from './headers.ts'
import classes from './webhooks.module.css'

const w = webhookWords.form

interface Draft {
  readonly url: string
  readonly description: string
  /** Whether only the chosen event types are sent, instead of all. */
  readonly some: boolean
  readonly types: readonly string[]
  /** New headers, one per line; the values of stored ones are never shown. */
  readonly headers: string
  /** Whether to delete the stored headers. */
  readonly bare: boolean
  readonly rate: string
  readonly ordered: boolean
  readonly asymmetric: boolean
}

interface PartProps {
  readonly draft: Draft
  readonly error: unknown
  readonly onPatch: (patch: Partial<Draft>) => void
}

/** The form asks for the URL first, because every other field has a good default. */
export function EndpointForm({
  organization,
  endpoint,
  onClose,
  send,
  onSent,
}: {
  readonly organization: string
  readonly endpoint?: Endpoint
  readonly onClose: () => void
  readonly send: (input: EndpointChange) => Promise<Endpoint>
  readonly onSent: (endpoint: Endpoint) => void
}) {
  const [draft, setDraft] = useState(() => draftOf(endpoint))
  const sending = useMutation({ mutationFn: send, onSuccess: onSent })
  const input = inputOf(draft)
  const part: PartProps = {
    draft,
    error: sending.error,
    onPatch: (patch) => setDraft((before) => ({ ...before, ...patch })),
  }
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={endpoint === undefined ? w.addTitle : w.editTitle}
      action={endpoint === undefined ? webhookWords.add : w.save}
      saving={sending}
      disabled={
        draft.url.trim() === '' || (draft.some && draft.types.length === 0) || input === undefined
      }
      onSubmit={() => (input === undefined ? undefined : sending.mutate(input))}
    >
      <Address {...part} />
      <SelectField
        label={w.types}
        error={fieldError(sending.error, 'types')}
        value={draft.some ? 'some' : 'all'}
        options={[
          { value: 'all', label: w.typesAll },
          { value: 'some', label: w.typesSome },
        ]}
        onValue={(value) => part.onPatch({ some: value === 'some' })}
      />
      {draft.some ? (
        <TypeChoice
          organization={organization}
          chosen={draft.types}
          onChange={(types) => part.onPatch({ types })}
        />
      ) : undefined}
      <Sending {...part} kept={endpoint?.header_names ?? []} />
    </FormDialog>
  )
}

function Address({ draft, error, onPatch }: PartProps) {
  return (
    <>
      <TextField
        label={w.url}
        hint={w.urlHint}
        error={fieldError(error, 'url')}
        code
        type="url"
        required
        placeholder="https://"
        value={draft.url}
        onValue={(url) => onPatch({ url })}
      />
      <TextField
        label={w.description}
        hint={w.descriptionHint}
        error={fieldError(error, 'description')}
        value={draft.description}
        onValue={(description) => onPatch({ description })}
      />
    </>
  )
}

function Sending({
  draft,
  error,
  kept,
  onPatch,
}: PartProps & { readonly kept: readonly string[] }) {
  const { rate, ordered, asymmetric } = draft
  return (
    <Folded title={w.more} open={kept.length > 0 || rate !== '' || ordered || asymmetric}>
      <TextArea
        label={w.headers}
        hint={kept.length === 0 ? w.headersHint : w.headersKept(kept.join(', '))}
        error={headersWrong(draft) ?? fieldError(error, 'headers')}
        code
        disabled={draft.bare}
        value={draft.headers}
        onValue={(headers) => onPatch({ headers })}
      />
      {kept.length === 0 ? undefined : (
        <Check label={w.headersDrop} checked={draft.bare} onValue={(bare) => onPatch({ bare })} />
      )}
      <TextField
        label={w.rate}
        hint={w.rateHint}
        error={rateWrong(draft) ?? fieldError(error, 'rate_per_second')}
        inputMode="numeric"
        value={rate}
        onValue={(next) => onPatch({ rate: next })}
      />
      <Check
        label={w.ordered}
        hint={w.orderedHint}
        checked={ordered}
        onValue={(next) => onPatch({ ordered: next })}
      />
      <Check
        label={w.asymmetric}
        hint={w.asymmetricHint}
        checked={asymmetric}
        onValue={(next) => onPatch({ asymmetric: next })}
      />
    </Folded>
  )
}

function draftOf(endpoint: Endpoint | undefined): Draft {
  return {
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    some: endpoint?.types !== undefined,
    types: endpoint?.types ?? [],
    headers: '',
    bare: false,
    rate: endpoint?.rate_per_second?.toString() ?? '',
    ordered: endpoint?.ordered ?? false,
    asymmetric: endpoint?.public_key !== undefined,
  }
}

/** The request body; undefined while the headers or the rate are invalid. */
function inputOf(draft: Draft): EndpointChange | undefined {
  const parsed = parseHeaders(draft.headers)
  if ('wrong' in parsed || rateWrong(draft) !== undefined) return undefined
  const { bare, headers } = draft
  return {
    url: draft.url.trim(),
    description: draft.description.trim(),
    types: draft.some ? [...draft.types] : null,
    rate_per_second: draft.rate === '' ? null : Number(draft.rate),
    ordered: draft.ordered,
    asymmetric: draft.asymmetric,
    ...(bare ? { headers: {} } : headers.trim() === '' ? {} : { headers: parsed.headers }),
  }
}

function headersWrong({ headers }: Draft): string | undefined {
  const parsed = parseHeaders(headers)
  return 'wrong' in parsed ? w.headersWrong(parsed.wrong) : undefined
}

function rateWrong({ rate }: Draft): string | undefined {
  return rate !== '' && !/^[1-9]\d{0,5}$/.test(rate.trim()) ? w.rateWrong : undefined
}

function TypeChoice({
  organization,
  chosen,
  onChange,
}: {
  readonly organization: string
  readonly chosen: readonly string[]
  readonly onChange: (types: readonly string[]) => void
}) {
  const types = useQuery(eventTypesQuery(organization))
  return (
    <div className={classes.typeList} role="group" aria-label={w.types}>
      {(types.data?.items ?? []).map(({ type, description }) => (
        <Check
          key={type}
          label={<code>{type}</code>}
          hint={description}
          checked={chosen.includes(type)}
          onValue={(on) => onChange(on ? [...chosen, type] : chosen.filter((one) => one !== type))}
        />
      ))}
    </div>
  )
}
