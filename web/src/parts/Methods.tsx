import { words } from '../../words/en.ts'
import { methods, type Method } from '../api/choices.ts'
import classes from './controls.module.css'

/** Selects any of the methods; none selected means all. */
export function Methods({
  label,
  value,
  onValue,
}: {
  readonly label: string
  readonly value: readonly string[]
  readonly onValue: (methods: Method[]) => void
}) {
  return (
    <fieldset className={classes.methods}>
      <legend className={classes.label}>{label}</legend>
      <div className={classes.methodRow}>
        {methods.map((method) => (
          <button
            key={method}
            type="button"
            aria-pressed={value.includes(method)}
            onClick={() =>
              onValue(
                methods.filter((one) =>
                  one === method ? !value.includes(one) : value.includes(one),
                ),
              )
            }
          >
            {method}
          </button>
        ))}
      </div>
      <span className={classes.hint}>
        {value.length === 0 ? words.everyMethod : words.theseMethods}
      </span>
    </fieldset>
  )
}
