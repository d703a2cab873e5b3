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
import { sayUndoable } from '../../parts/Toasts.tsx'
import { versionFor } from '../../parts/useDraft.ts'
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
  /** The id of the rule that decided the last tried request; undefined if no rule did. */
  readonly decided: string | undefined
  readonly onUnsaved: (unsaved: boolean) => void
}

/** Edits the ordered rules: they are moved with buttons or with Alt and the arrow keys, and saved together. */
export function Rules({ organization, target, editable, decided, onUnsaved }: RulesProps) {
  const edit = useRules(target)
  const { draft, rules, otherwise, said } = edit
  const preview = useRulePreview(organization, target, draft)
  const unsaved = draft !== undefined
  useEffect(() => onUnsaved(unsaved), [unsaved, onUnsaved])
  const { base, forget } = edit
  const save = useSave({ organization, target, base, preview, onSaved: forget })
  return (
    <Card
      flush
      title={w.title}
      lead={rules.length === 0 ? w.none[lastLineOf(rules, otherwise)] : w.lead}
      actions={
        editable ? (
          <Button small icon="plus" onClick={edit.add}>
            {w.add}
          </Button>
        ) : undefined
      }
    >
      <LeaveGuard isDirty={() => unsaved} />
      <RuleList edit={edit} editable={editable} decided={decided} />
      <LastLine
        rules={rules}
        otherwise={otherwise}
        editable={editable}
        onOtherwise={edit.setOtherwise}
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
        <Unsaved
          saving={save.isPending}
          onDiscard={() => {
            edit.forget()
            save.reset()
          }}
          onSave={() => save.mutate(draft)}
        />
      ) : editable && rules.length > 1 ? (
        <p className={cx(classes.foot, classes.keysHint, 'muted small')}>{w.keys}</p>
      ) : undefined}
      <p role="status" className="visually-hidden">
        {said}
      </p>
    </Card>
  )
}

function useRules(target: Target) {
  const [edited, edit] = useState<{ readonly base: Target; readonly draft: RuleDraft }>()
  const base = edited?.base ?? target
  const draft = edited?.draft
  const [editing, setEditing] = useState<number>()
  const [said, setSaid] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const { rules, otherwise } = draft ?? savedOf(target)
  const setDraft = (next: RuleDraft) => edit({ base, draft: next })
  function setRules(next: readonly DraftRule[]) {
    setDraft({ rules: next, otherwise })
  }
  return {
    ...{ base, draft, rules, otherwise, editing, said, list, setEditing },
    setOtherwise: (next: Otherwise) => setDraft({ rules, otherwise: next }),
    put: (index: number, rule: DraftRule) => setRules(rules.with(index, rule)),
    remove: (index: number) => {
      setRules(rules.toSpliced(index, 1))
      setEditing(undefined)
    },
    move: (from: number, step: number) => {
      const to = from + step
      if (to < 0 || to >= rules.length) return
      const next = [...rules]
      next.splice(to, 0, ...next.splice(from, 1))
      setRules(next)
      setEditing(undefined)
      setSaid(w.moved(to + 1))
      window.requestAnimationFrame(() =>
        list.current?.querySelectorAll<HTMLElement>('[data-rule]')[to]?.focus(),
      )
    },
    add: () => {
      setRules([...rules, { effect: 'deny', methods: [], path: '/', trial: false }])
      setEditing(rules.length)
    },
    forget: () => {
      edit(undefined)
      setEditing(undefined)
    },
  }
}
function savedOf(target: Target): RuleDraft {
  return {
    rules: target.rules,
    otherwise: target.otherwise_set ? target.otherwise : undefined,
  }
}

type RulesEdit = ReturnType<typeof useRules>

function useSave({
  organization,
  target,
  base,
  preview,
  onSaved,
}: {
  readonly organization: string
  readonly target: Target
  /** The target as it was when editing its rules began. */
  readonly base: Target
  readonly preview: ReturnType<typeof useRulePreview>
  readonly onSaved: () => void
}) {
  const client = useQueryClient()
  async function put(draft: RuleDraft, version: number) {
    const input = { path: { organization, target: target.slug }, body: savedDraft(draft) }
    const route = 'PUT /organizations/:organization/targets/:target/rules'
    const after = await call(route, input, { version })
    await client.invalidateQueries({ queryKey: [organization, 'targets'] })
    return after
  }
  return useMutation({
    mutationFn: async (now: RuleDraft) => {
      // If the draft would refuse calls that are now allowed, its author must see the preview before saving, so that
      // nobody closes off an API by accident.
      if (preview.shown === undefined) {
        const foreseen = await preview.ask(now)
        if (foreseen !== undefined && foreseen.newly_refused > 0) return undefined
      }
      const before = savedOf(target)
      const expected = versionFor({ base, it: target }, (one) => savedDraft(savedOf(one)))
      const { version } = await put(now, expected)
      return { before, version }
    },
    onSuccess: (saved) => {
      if (saved === undefined) return
      onSaved()
      sayUndoable(w.saved, async () => await put(saved.before, saved.version))
    },
  })
}

function RuleList({
  edit,
  editable,
  decided,
}: {
  readonly edit: RulesEdit
  readonly editable: boolean
  readonly decided: string | undefined
}) {
  return (
    <ol ref={edit.list}>
      {edit.rules.map((rule, index) => (
        <li key={rule.id ?? `new ${index}`}>
          <RuleRow
            rule={rule}
            index={index}
            edit={edit}
            editable={editable}
            decides={rule.id !== undefined && rule.id === decided}
          />
          {edit.editing === index ? (
            <RuleEditor
              rule={rule}
              onRule={(next) => edit.put(index, next)}
              onDone={() => edit.setEditing(undefined)}
            />
          ) : undefined}
        </li>
      ))}
    </ol>
  )
}

function RuleRow({
  rule,
  index,
  edit,
  editable,
  decides,
}: {
  readonly rule: DraftRule
  readonly index: number
  readonly edit: RulesEdit
  readonly editable: boolean
  readonly decides: boolean
}) {
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!editable || !event.altKey || step === undefined) return
    event.preventDefault()
    edit.move(index, step)
  }
  const name = `${index + 1}: ${rule.effect} ${methodsText(rule)} ${rule.path}`
  const mark = rule.effect === 'deny' ? classes.decides : classes.decidesAllow
  return (
    <div
      className={cx(classes.rule, decides && mark)}
      data-rule
      tabIndex={editable ? 0 : undefined}
      onKeyDown={onKeyDown}
      role={editable ? 'group' : undefined}
      aria-label={editable ? name : undefined}
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
      {editable ? <Tools index={index} edit={edit} /> : undefined}
    </div>
  )
}

function Tools({ index, edit }: { readonly index: number; readonly edit: RulesEdit }) {
  const isOpen = edit.editing === index
  return (
    <span className={classes.tools}>
      <Button
        small
        look="quiet"
        icon="up"
        aria-label={w.up(index + 1)}
        disabled={index === 0}
        onClick={() => edit.move(index, -1)}
      />
      <Button
        small
        look="quiet"
        icon="down"
        aria-label={w.down(index + 1)}
        disabled={index === edit.rules.length - 1}
        onClick={() => edit.move(index, 1)}
      />
      <Button
        small
        look="quiet"
        icon="edit"
        aria-label={w.edit(index + 1)}
        aria-expanded={isOpen}
        onClick={() => edit.setEditing(isOpen ? undefined : index)}
      />
      <Button
        small
        look="quiet"
        icon="close"
        aria-label={w.remove(index + 1)}
        onClick={() => edit.remove(index)}
      />
    </span>
  )
}

function Unsaved({
  saving,
  onDiscard,
  onSave,
}: {
  readonly saving: boolean
  readonly onDiscard: () => void
  readonly onSave: () => void
}) {
  return (
    <div className={classes.foot}>
      <strong className={classes.grow}>{w.unsaved}</strong>
      <Button onClick={onDiscard}>{w.discard}</Button>
      <Button look="primary" busy={saving} onClick={onSave}>
        {w.save}
      </Button>
    </div>
  )
}

function methodsText(rule: DraftRule): string {
  return rule.methods.length === 0 ? w.any : rule.methods.join(' ')
}
