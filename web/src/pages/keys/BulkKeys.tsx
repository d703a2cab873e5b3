import { useState } from 'react'
import { editKey, revokeKey } from '../../api/keys.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { words } from '../../../words/en.ts'
import { Button } from '../../parts/Button.tsx'
import { cx } from '../../parts/cx.ts'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField } from '../../parts/Field.tsx'
import classes from './bulk.module.css'
import { bodyOf } from './key-fields.tsx'
import { LabelKeys } from './LabelKeys.tsx'
import { useEach, type Asking, type BulkKeysProps } from './useEach.ts'

const w = keysWords.bulk
const namedInQuestion = 5
const dayMs = 86_400_000

export function BulkKeys({ organization, keys, onDone }: BulkKeysProps) {
  const [asking, setAsking] = useState<'revoke' | 'extend' | 'label'>()
  const active = keys.filter(({ state }) => state === 'active')
  const close = () => setAsking(undefined)
  const done = () => {
    close()
    onDone()
  }
  return (
    <div className={cx('row between', classes.bulk)} role="group" aria-label={w.label}>
      <strong role="status">{w.chosen(keys.length)}</strong>
      <span className="row">
        <Button small onClick={onDone}>
          {w.clear}
        </Button>
        <Button small disabled={active.length === 0} onClick={() => setAsking('extend')}>
          {w.extend}
        </Button>
        <Button small disabled={active.length === 0} onClick={() => setAsking('label')}>
          {w.labels}
        </Button>
        <Button
          small
          look="danger"
          disabled={active.length === 0}
          onClick={() => setAsking('revoke')}
        >
          {w.revoke}
        </Button>
      </span>
      {asking === 'revoke' ? (
        <RevokeKeys {...{ organization, keys: active }} onClose={close} onDone={done} />
      ) : undefined}
      {asking === 'extend' ? (
        <ExtendKeys {...{ organization, keys: active }} onClose={close} onDone={done} />
      ) : undefined}
      {asking === 'label' ? (
        <LabelKeys {...{ organization, keys: active }} onClose={close} onDone={done} />
      ) : undefined}
    </div>
  )
}

function RevokeKeys(props: Asking) {
  const { organization, keys } = props
  const revoke = useEach(props, async ({ id }) => await revokeKey(organization, id))
  const names = keys.slice(0, namedInQuestion).map(({ name }) => name)
  const others = keys.length - names.length
  return (
    <ConfirmDialog
      onClose={props.onClose}
      title={w.revokeTitle(keys.length)}
      action={w.revokeAction(keys.length)}
      typed={keys.length > namedInQuestion ? String(keys.length) : undefined}
      saving={revoke}
      onConfirm={() => revoke.mutate()}
    >
      <p className="break">
        {names.join(', ')} {others === 0 ? '' : w.others(others)}
      </p>
      <p>{keysWords.revokeDialog.text}</p>
    </ConfirmDialog>
  )
}

function ExtendKeys(props: Asking) {
  const { organization, keys } = props
  const [days, setDays] = useState('90')
  const extend = useEach(props, async (key) => {
    const end = new Date(Date.now() + Number(days) * dayMs)
    await editKey(organization, key, { ...bodyOf(key), expires_at: end.toISOString() })
  })
  const { '': _never, ...choices } = keysWords.form.endChoices
  return (
    <FormDialog
      onClose={props.onClose}
      title={w.extendTitle(keys.length)}
      lead={w.extendLead}
      action={words.save}
      saving={extend}
      onSubmit={() => extend.mutate()}
    >
      <SelectField
        label={keysWords.form.ends}
        value={days}
        options={Object.entries(choices).map(([value, label]) => ({ value, label }))}
        onValue={setDays}
      />
    </FormDialog>
  )
}
