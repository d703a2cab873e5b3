import { useEffect, useRef } from 'react'
import { chosenOf, effects } from '../../api/choices.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Button } from '../../parts/Button.tsx'
import { Check, SelectField, TextField } from '../../parts/Field.tsx'
import { Methods } from '../../parts/Methods.tsx'
import type { DraftRule } from './draft-rule.ts'
import classes from './targets.module.css'

const w = targetsWords.rules

export function RuleEditor({
  rule,
  onRule,
  onDone,
}: {
  readonly rule: DraftRule
  readonly onRule: (rule: DraftRule) => void
  readonly onDone: () => void
}) {
  const editor = useRef<HTMLDivElement>(null)
  // Runs only when the editor opens, and moves the focus to its first field.
  useEffect(() => editor.current?.querySelector('select')?.focus(), [])
  return (
    <div ref={editor} className={classes.editor}>
      <div className={classes.editorRow}>
        <SelectField
          label={w.effect}
          value={rule.effect}
          options={effects.map((value) => ({
            value,
            label: w.effects[value],
          }))}
          onValue={(effect) => onRule({ ...rule, effect: chosenOf(effects, effect) })}
        />
        <TextField
          label={w.path}
          hint={w.pathHint}
          code
          value={rule.path}
          onValue={(path) => onRule({ ...rule, path })}
        />
      </div>
      <Methods
        label={w.methods}
        value={rule.methods}
        onValue={(methods) => onRule({ ...rule, methods })}
      />
      <div className="row between">
        <Check
          label={w.trial}
          checked={rule.trial}
          onValue={(trial) => onRule({ ...rule, trial })}
        />
        <Button small onClick={onDone}>
          {w.done}
        </Button>
      </div>
    </div>
  )
}
