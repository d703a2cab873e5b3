import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { call } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button } from '../../parts/Button.tsx'
import { cx } from '../../parts/cx.ts'
import { count } from '../../parts/numbers.ts'
import { LeaveGuard } from '../../parts/LeaveGuard.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Card, Tag } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import type { DraftRule } from './draft-rule.ts'
import { LastLine, lastLineOf, type Otherwise } from './LastLine.tsx'
import { RuleEditor } from './RuleEditor.tsx'
import { RulePreview, savedDraft, useRulePreview, type RuleDraft } from './RulePreview.tsx'
import classes from './targets.module.css'

const w = targetsWords.rules

interface RulesProps {
  readonly organization: string
  readonly target: Target
  readonly editable: boolean
  /** The rule that decided the last tried request. */
  readonly decided: string | undefined
  readonly onUnsaved: (unsaved: boolean) => void
}

/** The ordered rules: moved by buttons or Alt and arrows, saved together. */
export function Rules({ organization, target, editable, decided, onUnsaved }: RulesProps) {
  const client = useQueryClient()
  const [draft, changeDraft] = useState<RuleDraft>()
  const [editing, setEditing] = useState<number>()
  const [said, setSaid] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const saved = target.otherwise_set ? target.otherwise : undefined
  const { rules, otherwise } = draft ?? { rules: target.rules, otherwise: saved }
  const preview = useRulePreview(organization, target, draft)
  const unsaved = draft !== undefined
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved])

  const save = useMutation({
    mutationFn: async (now: RuleDraft) => {
      // Nobody closes an API without having seen what that does.
      if (preview.shown === undefined) {
        const foreseen = await preview.ask(now)
        if (foreseen !== undefined && foreseen.newly_refused > 0) return false
      }
      await call('PUT /organizations/:organization/targets/:target/rules', {
        path: { organization, target: target.slug },
        body: savedDraft(now),
      })
      return true
    },
    onSuccess: async (isSaved) => {
      if (!isSaved) return
      await client.invalidateQueries({ queryKey: [organization, 'targets'] })
      changeDraft(undefined)
      setEditing(undefined)
      say(w.saved)
    },
  })

  function setDraft(next: readonly DraftRule[]) {
    changeDraft({ rules: next, otherwise })
  }
  function setOtherwise(next: Otherwise) {
    changeDraft({ rules, otherwise: next })
  }
  function move(from: number, step: number) {
    const to = from + step
    if (to < 0 || to >= rules.length) return
    const next = [...rules]
    next.splice(to, 0, ...next.splice(from, 1))
    setDraft(next)
    setEditing(undefined)
    setSaid(w.moved(to + 1))
    window.requestAnimationFrame(() =>
      list.current?.querySelectorAll<HTMLElement>('[data-rule]')[to]?.focus(),
    )
  }
  function onKeyDown(event: KeyboardEvent, index: number) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!editable || !event.altKey || step === undefined) return
    event.preventDefault()
    move(index, step)
  }
  function add() {
    setDraft([...rules, { effect: 'deny', methods: [], path: '/', trial: false }])
    setEditing(rules.length)
  }

  return (
    <Card
      flush
      title={w.title}
      lead={rules.length === 0 ? w.none[lastLineOf(rules, otherwise)] : w.lead}
      actions={
        editable ? (
          <Button small icon="plus" onClick={add}>
            {w.add}
          </Button>
        ) : undefined
      }
    >
      <LeaveGuard isDirty={() => unsaved} />
      <ol ref={list}>
        {rules.map((rule, index) => (
          <li key={rule.id ?? `new ${index}`}>
            <div
              className={cx(
                classes.rule,
                rule.id !== undefined &&
                  rule.id === decided &&
                  (rule.effect === 'deny' ? classes.decides : classes.decidesAllow),
              )}
              data-rule
              tabIndex={editable ? 0 : undefined}
              onKeyDown={(event) => onKeyDown(event, index)}
              role={editable ? 'group' : undefined}
              aria-label={
                editable
                  ? `${index + 1}: ${rule.effect} ${methodsText(rule)} ${rule.path}`
                  : undefined
              }
            >
              <span className={classes.number}>{index + 1}</span>
              <span className={classes[rule.effect]}>{w.effects[rule.effect]}</span>
              <span className="mono break">{methodsText(rule)}</span>
              <span className={cx('mono break', classes.path)}>
                {rule.path} {rule.trial ? <Tag>{w.trialTag}</Tag> : undefined}
              </span>
              <span className={classes.hits}>
                {rule.calls === undefined ? '' : w.hits(count(rule.calls))}
              </span>
              {editable ? (
                <span className={classes.tools}>
                  <Button
                    small
                    look="quiet"
                    icon="up"
                    aria-label={w.up(index + 1)}
                    disabled={index === 0}
                    onClick={() => move(index, -1)}
                  />
                  <Button
                    small
                    look="quiet"
                    icon="down"
                    aria-label={w.down(index + 1)}
                    disabled={index === rules.length - 1}
                    onClick={() => move(index, 1)}
                  />
                  <Button
                    small
                    look="quiet"
                    icon="settings"
                    aria-label={w.edit(index + 1)}
                    aria-expanded={editing === index}
                    onClick={() => setEditing(editing === index ? undefined : index)}
                  />
                  <Button
                    small
                    look="quiet"
                    icon="close"
                    aria-label={w.remove(index + 1)}
                    onClick={() => {
                      setDraft(rules.filter((_, other) => other !== index))
                      setEditing(undefined)
                    }}
                  />
                </span>
              ) : undefined}
            </div>
            {editing === index ? (
              <RuleEditor
                rule={rule}
                onRule={(next) =>
                  setDraft(rules.map((one, other) => (other === index ? next : one)))
                }
                onDone={() => setEditing(undefined)}
              />
            ) : undefined}
          </li>
        ))}
      </ol>
      <LastLine
        rules={rules}
        otherwise={otherwise}
        editable={editable}
        onOtherwise={setOtherwise}
      />
      {unsaved ? (
        <div role="status">
          <RulePreview preview={preview.shown} pending={preview.isPending} />
        </div>
      ) : undefined}
      {save.isError ? (
        <div className="pad">
          <ProblemNotice error={save.error} />
        </div>
      ) : undefined}
      {unsaved ? (
        <div className={classes.foot}>
          <strong className={classes.grow}>{w.unsaved}</strong>
          <Button
            onClick={() => {
              changeDraft(undefined)
              setEditing(undefined)
              save.reset()
            }}
          >
            {w.discard}
          </Button>
          <Button look="primary" busy={save.isPending} onClick={() => draft && save.mutate(draft)}>
            {w.save}
          </Button>
        </div>
      ) : editable && rules.length > 1 ? (
        <p className={cx(classes.foot, 'muted small')}>{w.keys}</p>
      ) : undefined}
      <p role="status" className="visually-hidden">
        {said}
      </p>
    </Card>
  )
}

function methodsText(rule: DraftRule): string {
  return rule.methods.length === 0 ? w.any : rule.methods.join(' ')
}
