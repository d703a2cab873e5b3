import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { secretWords as w, webhookWords } from '../../../words/en/webhooks.ts'
import type { Secrets } from '../../api/webhook-shapes.ts'
import { endOldSecrets, readSecret, rotateSecret } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { copyLabel } from '../../parts/copy-text.ts'
import { Snippet, useCopy } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card, Item, Items, Notice, PageHead, Pile } from '../../parts/Surface.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Sections } from './Sections.tsx'
import { languages } from './snippets.ts'

// Standard Webhooks libraries expect a secret that starts with `whsec_`, so it is also shown without our own `svc_`.
const ownPrefixLength = 'svc_'.length

export function Secret() {
  const { slug, may } = useOrganization()
  // The secret is kept out of the query cache, so that it is gone from memory when this page is left.
  const [shown, setShown] = useState<Secrets>()
  const [rotating, setRotating] = useState(false)
  const reading = useMutation({
    mutationFn: () => readSecret(slug),
    onSuccess: setShown,
  })
  if (!may('webhooks.manage')) return <Notice title={w.notAllowed} />
  return (
    <>
      <PageHead title={webhookWords.title} lead={webhookWords.lead}>
        <Button onClick={() => setRotating(true)}>{w.rotate}</Button>
      </PageHead>
      <Sections />
      <Pile>
        <Card title={w.title} lead={w.lead}>
          {shown === undefined ? (
            <div className="stack">
              <div>
                <Button look="primary" busy={reading.isPending} onClick={() => reading.mutate()}>
                  {w.show}
                </Button>
              </div>
              {reading.error === null ? undefined : <ProblemNotice error={reading.error} />}
            </div>
          ) : (
            <Forms shown={shown} onHide={() => setShown(undefined)} />
          )}
        </Card>
        {shown === undefined || shown.old.length === 0 ? undefined : (
          <OldSecrets shown={shown} onEnded={() => setShown({ ...shown, old: [] })} />
        )}
        <Verifying />
      </Pile>
      {rotating ? (
        <Rotate
          organization={slug}
          onClose={() => setRotating(false)}
          onRotated={(next) => {
            setShown(next)
            setRotating(false)
            say(w.rotated, { text: w.rotatedText })
          }}
        />
      ) : undefined}
    </>
  )
}

function Verifying() {
  return (
    <Card title={w.verify} lead={w.verifyLead}>
      <Tabs
        inside
        label={w.verify}
        tabs={languages.map((language) => ({
          id: language.id,
          label: language.label,
          content: (
            <div className="stack-tight">
              <Snippet text={language.install} label={w.install(language.label)} />
              <Snippet text={language.code} label={w.code(language.label)} />
            </div>
          ),
        }))}
      />
    </Card>
  )
}

function OldSecrets({ shown, onEnded }: { readonly shown: Secrets; readonly onEnded: () => void }) {
  const { slug } = useOrganization()
  const [asking, setAsking] = useState(false)
  const ending = useMutation({
    mutationFn: () => endOldSecrets(slug),
    onSuccess: () => {
      say(w.endOldDone)
      setAsking(false)
      onEnded()
    },
  })
  return (
    <Card
      title={w.old}
      lead={w.oldLead}
      flush
      actions={
        <Button small look="danger" onClick={() => setAsking(true)}>
          {w.endOld}
        </Button>
      }
    >
      <Items>
        {shown.old.map((one) => (
          <Item key={one.created_at} mark="waits">
            <code>{one.hint}</code>{' '}
            <span className="muted">
              {w.until} <Time at={one.valid_until} />
            </span>
          </Item>
        ))}
      </Items>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.endOldTitle}
        action={w.endOld}
        saving={ending}
        onConfirm={() => ending.mutate()}
      >
        <p>{w.endOldText}</p>
      </ConfirmDialog>
    </Card>
  )
}

function Forms({ shown, onHide }: { readonly shown: Secrets; readonly onHide: () => void }) {
  const { secret, created_at: createdAt } = shown.current
  return (
    <div className="stack">
      <SecretLine label={w.whole} hint={w.wholeHint} text={secret} />
      <SecretLine label={w.standard} hint={w.standardHint} text={secret.slice(ownPrefixLength)} />
      <div className="row between">
        <span className="muted">
          {w.since} <Time at={createdAt} />
        </span>
        <Button small onClick={onHide}>
          {w.hide}
        </Button>
      </div>
    </div>
  )
}

function SecretLine({
  label,
  hint,
  text,
}: {
  readonly label: string
  readonly hint: string
  readonly text: string
}) {
  const node = useRef<HTMLElement>(null)
  const [outcome, copy] = useCopy(node)
  return (
    <div className="stack-tight">
      <h3>{label}</h3>
      <p className="muted">{hint}</p>
      <div className="row">
        <code ref={node} className="break" data-secret>
          {text}
        </code>
        <Button
          small
          icon={outcome === 'copied' ? 'check' : 'copy'}
          aria-label={webhookWords.copySecret(label)}
          onClick={() => void copy(text)}
        >
          {copyLabel(outcome, w.copy)}
        </Button>
      </div>
    </div>
  )
}

function Rotate({
  organization,
  onClose,
  onRotated,
}: {
  readonly organization: string
  readonly onClose: () => void
  readonly onRotated: (shown: Secrets) => void
}) {
  const [overlap, setOverlap] = useState('86400')
  const rotation = useMutation({
    mutationFn: () => rotateSecret(organization, Number(overlap)),
    onSuccess: onRotated,
  })
  return (
    <FormDialog
      onClose={onClose}
      title={w.rotateTitle}
      lead={w.rotateLead}
      action={w.rotate}
      saving={rotation}
      onSubmit={() => rotation.mutate()}
    >
      <SelectField
        label={w.overlap}
        hint={overlap === '0' ? w.overlapNone : w.overlapHint}
        value={overlap}
        options={[
          { value: '86400', label: w.overlaps.day },
          { value: '0', label: w.overlaps.none },
        ]}
        onValue={setOverlap}
      />
    </FormDialog>
  )
}
