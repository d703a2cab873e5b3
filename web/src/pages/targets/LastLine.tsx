import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { Select } from '../../parts/Field.tsx'
import { cx } from '../../parts/cx.ts'
import type { DraftRule } from './draft-rule.ts'
import classes from './targets.module.css'

const w = targetsWords.rules

/** The action chosen for calls that no rule decides; undefined if none was chosen. */
export type Otherwise = Target['otherwise'] | undefined

/** Returns the chosen action; if none was chosen, `refuse` if some allow rule is not on trial, else `allow`. */
export function lastLineOf(rules: readonly DraftRule[], otherwise: Otherwise): Target['otherwise'] {
  if (otherwise !== undefined) return otherwise
  return rules.some((rule) => rule.effect === 'allow' && !rule.trial) ? 'refuse' : 'allow'
}

export function LastLine({
  rules,
  otherwise,
  editable,
  onOtherwise,
}: {
  readonly rules: readonly DraftRule[]
  readonly otherwise: Otherwise
  readonly editable: boolean
  readonly onOtherwise: (otherwise: Otherwise) => void
}) {
  const holds = lastLineOf(rules, otherwise)
  return (
    <div className={cx(classes.rule, classes.lastLine)}>
      <span className={classes.number} aria-hidden>
        ↳
      </span>
      <span className={classes.path}>
        {w.otherwise}{' '}
        <span className={holds === 'allow' ? classes.allow : classes.deny}>
          {w.lastLines[holds]}
        </span>{' '}
        {otherwise === undefined ? <span className="muted small">{w.byDefault[holds]}</span> : ''}
      </span>
      {editable ? (
        <Select
          auto
          aria-label={w.otherwiseLabel}
          value={otherwise ?? 'default'}
          options={[
            { value: 'default', label: w.defaultLine },
            { value: 'allow', label: w.lastLines.allow },
            { value: 'refuse', label: w.lastLines.refuse },
          ]}
          onValue={(value) =>
            onOtherwise(value === 'allow' || value === 'refuse' ? value : undefined)
          }
        />
      ) : undefined}
    </div>
  )
}
