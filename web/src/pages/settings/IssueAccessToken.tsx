import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { accessTokenWords as w } from '../../../words/en/access-tokens.ts'
import { issueAccessToken } from '../../api/access-tokens.ts'
import type { Permission } from '../../api/shapes.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { Check, SelectField, TextArea, TextField } from '../../parts/Field.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { fieldError } from '../../parts/States.tsx'
import classes from '../../parts/choices.module.css'

const dayMs = 86_400_000
const everyPermission = Object.keys(w.permissions) as Permission[]
/** Permissions that only owners may give to a program; the server refuses them from anyone else. */
const onlyByOwners: readonly Permission[] = [
  'owners.manage',
  'organization.delete',
  'sso.manage',
  'tokens.manage',
]

export function IssueAccessToken({
  onClose,
  onIssued,
}: {
  readonly onClose: () => void
  readonly onIssued: (secret: string) => void
}) {
  const { slug, may } = useOrganization()
  const isOwner = may('owners.manage')
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [cidrs, setCidrs] = useState('')
  const [chosen, setChosen] = useState<readonly Permission[]>(['traffic.see'])
  const issuing = useMutation({
    mutationFn: () => issueAccessToken(slug, bodyOf({ name, days, cidrs, chosen })),
    onSuccess: (issued) => onIssued(issued.secret),
  })
  const ends = Object.entries(w.endChoices).map(([value, label]) => ({ value, label }))
  return (
    <FormDialog
      onClose={onClose}
      title={w.issueTitle}
      action={w.issue}
      saving={issuing}
      disabled={name.trim() === '' || chosen.length === 0}
      onSubmit={() => issuing.mutate()}
    >
      <TextField
        label={w.name}
        hint={w.nameHint}
        error={fieldError(issuing.error, 'name')}
        maxLength={100}
        required
        value={name}
        onValue={setName}
      />
      <SelectField
        label={w.ends}
        value={days}
        options={isOwner ? [...ends, { value: '', label: w.never }] : ends}
        onValue={setDays}
      />
      <Permissions chosen={chosen} onChosen={setChosen} />
      <Folded title={w.more}>
        <TextArea
          label={w.cidrs}
          hint={w.cidrsHint}
          error={fieldError(issuing.error, 'cidrs')}
          rows={3}
          code
          value={cidrs}
          onValue={setCidrs}
        />
      </Folded>
    </FormDialog>
  )
}

function Permissions({
  chosen,
  onChosen,
}: {
  readonly chosen: readonly Permission[]
  readonly onChosen: (chosen: readonly Permission[]) => void
}) {
  const { may } = useOrganization()
  const isOwner = may('owners.manage')
  const offered = everyPermission.filter(
    (one) => may(one) && (isOwner || !onlyByOwners.includes(one)),
  )
  return (
    <fieldset className={classes.choices}>
      <legend>{w.may}</legend>
      {offered.map((one) => (
        <Check
          key={one}
          label={w.permissions[one]}
          hint={<code>{one}</code>}
          checked={chosen.includes(one)}
          onValue={(checked) =>
            onChosen(checked ? [...chosen, one] : chosen.filter((other) => other !== one))
          }
        />
      ))}
    </fieldset>
  )
}

function bodyOf(draft: {
  readonly name: string
  readonly days: string
  readonly cidrs: string
  readonly chosen: readonly Permission[]
}) {
  const ranges = draft.cidrs.split(/[\s,]+/).filter(Boolean)
  return {
    name: draft.name.trim(),
    permissions: [...draft.chosen],
    cidrs: ranges.length === 0 ? undefined : ranges,
    expires_at:
      draft.days === '' ? null : new Date(Date.now() + Number(draft.days) * dayMs).toISOString(),
  }
}
