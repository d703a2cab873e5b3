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

/** Adds or edits an endpoint: the address first, everything else has a good default. */
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
  readonly send: (wish: EndpointChange) => Promise<Endpoint>
  readonly onSent: (endpoint: Endpoint) => void
}) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [some, setSome] = useState(endpoint?.types !== undefined)
  const [types, setTypes] = useState<readonly string[]>(endpoint?.types ?? [])
  const [headers, setHeaders] = useState('')
  const [bare, setBare] = useState(false)
  const [rate, setRate] = useState(endpoint?.rate_per_second?.toString() ?? '')
  const [ordered, setOrdered] = useState(endpoint?.ordered ?? false)
  const [asymmetric, setAsymmetric] = useState(endpoint?.public_key !== undefined)
  const sending = useMutation({ mutationFn: send, onSuccess: onSent })
  const parsed = parseHeaders(headers)
  const headersWrong = 'wrong' in parsed ? w.headersWrong(parsed.wrong) : undefined
  const rateWrong = rate !== '' && !/^[1-9]\d{0,5}$/.test(rate.trim()) ? w.rateWrong : undefined

  function submit() {
    if ('wrong' in parsed || rateWrong !== undefined) return
    sending.mutate({
      url: url.trim(),
      description: description.trim(),
      types: some ? [...types] : null,
      rate_per_second: rate === '' ? null : Number(rate),
      ordered,
      asymmetric,
      ...(bare ? { headers: {} } : headers.trim() === '' ? {} : { headers: parsed.headers }),
    })
  }

  const kept = endpoint?.header_names ?? []
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={endpoint === undefined ? w.addTitle : w.editTitle}
      action={endpoint === undefined ? webhookWords.add : w.save}
      busy={sending.isPending}
      error={sending.error}
      disabled={
        url.trim() === '' ||
        (some && types.length === 0) ||
        (headersWrong ?? rateWrong) !== undefined
      }
      onSubmit={submit}
    >
      <TextField
        label={w.url}
        hint={w.urlHint}
        error={fieldError(sending.error, 'url')}
        code
        type="url"
        required
        placeholder="https://"
        value={url}
        onValue={setUrl}
      />
      <TextField
        label={w.description}
        hint={w.descriptionHint}
        error={fieldError(sending.error, 'description')}
        value={description}
        onValue={setDescription}
      />
      <SelectField
        label={w.types}
        error={fieldError(sending.error, 'types')}
        value={some ? 'some' : 'all'}
        options={[
          { value: 'all', label: w.typesAll },
          { value: 'some', label: w.typesSome },
        ]}
        onValue={(value) => setSome(value === 'some')}
      />
      {some ? (
        <TypeChoice organization={organization} chosen={types} onChange={setTypes} />
      ) : undefined}
      <Folded title={w.more} open={kept.length > 0 || rate !== '' || ordered || asymmetric}>
        <TextArea
          label={w.headers}
          hint={kept.length === 0 ? w.headersHint : w.headersKept(kept.join(', '))}
          error={headersWrong ?? fieldError(sending.error, 'headers')}
          code
          disabled={bare}
          value={headers}
          onValue={setHeaders}
        />
        {kept.length === 0 ? undefined : (
          <Check label={w.headersDrop} checked={bare} onValue={setBare} />
        )}
        <TextField
          label={w.rate}
          hint={w.rateHint}
          error={rateWrong ?? fieldError(sending.error, 'rate_per_second')}
          inputMode="numeric"
          value={rate}
          onValue={setRate}
        />
        <Check label={w.ordered} hint={w.orderedHint} checked={ordered} onValue={setOrdered} />
        <Check
          label={w.asymmetric}
          hint={w.asymmetricHint}
          checked={asymmetric}
          onValue={setAsymmetric}
        />
      </Folded>
    </FormDialog>
  )
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
