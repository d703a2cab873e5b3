import { useId, type ComponentProps, type ReactNode } from 'react'
import classes from './controls.module.css'
import { cx } from './cx.ts'
import { useWrongInput } from './wrong-input.ts'

interface FieldProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

interface Marks {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A label with its control, hint and error, which are linked for screen readers. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { readonly children: (marks: Marks) => ReactNode }) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}h`, error === undefined ? '' : `${id}e`]
    .filter(Boolean)
    .join(' ')
  return (
    <div className={classes.field}>
      <label className={classes.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint === undefined ? undefined : (
        <span className={classes.hint} id={`${id}h`}>
          {hint}
        </span>
      )}
      {error === undefined ? undefined : (
        <span className={classes.error} id={`${id}e`}>
          {error}
        </span>
      )}
    </div>
  )
}

type TextProps<Tag extends 'input' | 'textarea'> = FieldProps & {
  readonly code?: boolean
  /** The error text for a value that does not match `pattern`. */
  readonly patternWords?: string
  readonly onValue?: (value: string) => void
} & ComponentProps<Tag>

/** A one-line text field; `code` sets it in monospace for ids, paths and addresses. */
export function TextField({
  label,
  hint,
  error,
  code,
  patternWords,
  onValue,
  ...rest
}: TextProps<'input'>) {
  const wrong = useWrongInput(patternWords)
  return (
    <Field label={label} hint={hint} error={wrong.sentence ?? error}>
      {(marks) => (
        <input
          autoComplete="off"
          spellCheck={code !== true && rest.type === undefined}
          {...rest}
          {...marks}
          className={textClass(code)}
          onInvalid={(event) => wrong.onInvalid(event)}
          onChange={(event) => {
            wrong.clear()
            onValue?.(event.target.value)
          }}
        />
      )}
    </Field>
  )
}

/** A multi-line text field; the form can't be submitted while `wrong` has a message. */
export function TextArea({
  label,
  hint,
  error,
  code,
  wrong: sentence = '',
  onValue,
  ...rest
}: TextProps<'textarea'> & { readonly wrong?: string | undefined }) {
  const wrong = useWrongInput()
  return (
    <Field label={label} hint={hint} error={wrong.sentence ?? error}>
      {(marks) => (
        <textarea
          rows={3}
          spellCheck={code !== true}
          {...rest}
          {...marks}
          ref={(field) => field?.setCustomValidity(sentence)}
          className={textClass(code)}
          onInvalid={(event) => wrong.onInvalid(event)}
          onChange={(event) => {
            wrong.clear()
            onValue?.(event.target.value)
          }}
        />
      )}
    </Field>
  )
}

function textClass(code: boolean | undefined): string {
  return cx(classes.input, code === true && classes.code)
}

export interface Option {
  readonly value: string
  readonly label: string
}

/** The browser's own select, which works best on phones and with screen readers. */
export function SelectField({
  label,
  hint,
  error,
  options,
  onValue,
  ...rest
}: FieldProps & {
  readonly options: readonly Option[]
  readonly onValue?: (value: string) => void
} & ComponentProps<'select'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(marks) => <Select options={options} onValue={onValue} {...rest} {...marks} />}
    </Field>
  )
}

/** A select without a visible label; give it an `aria-label`. */
export function Select({
  options,
  onValue,
  auto = false,
  ...rest
}: {
  readonly options: readonly Option[]
  readonly onValue?: ((value: string) => void) | undefined
  readonly auto?: boolean
} & ComponentProps<'select'>) {
  return (
    <select
      {...rest}
      className={cx(classes.input, classes.select, auto && classes.auto)}
      onChange={(event) => onValue?.(event.target.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  )
}

export function Check({
  label,
  hint,
  checked,
  onValue,
  ...rest
}: {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly onValue: (checked: boolean) => void
} & ComponentProps<'input'>) {
  return (
    <label className={classes.check}>
      <input
        type="checkbox"
        checked={checked}
        {...rest}
        onChange={(event) => onValue(event.target.checked)}
      />
      <span>
        {label}
        {hint === undefined ? undefined : (
          <span className={cx(classes.hint, 'visually-block')}> {hint}</span>
        )}
      </span>
    </label>
  )
}

/** A switch for a setting that is not saved together with a form. */
export function SwitchRow({
  label,
  hint,
  checked,
  disabled = false,
  onValue,
}: {
  readonly label: string
  readonly hint?: ReactNode
  readonly checked: boolean
  readonly disabled?: boolean
  readonly onValue: (checked: boolean) => void
}) {
  const id = useId()
  return (
    <div className={classes.switchRow}>
      <button
        type="button"
        role="switch"
        className={classes.switch}
        disabled={disabled}
        aria-checked={checked}
        onClick={() => onValue(!checked)}
        aria-labelledby={id}
        aria-describedby={hint === undefined ? undefined : `${id}h`}
      >
        <span className={classes.thumb} />
      </button>
      <div>
        <div className={classes.label} id={id}>
          {label}
        </div>
        {hint === undefined ? undefined : (
          <div className="muted" id={`${id}h`}>
            {hint}
          </div>
        )}
      </div>
    </div>
  )
}

export function Segmented<Value extends string>({
  label,
  value,
  options,
  onValue,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly { value: Value; label: string }[]
  readonly onValue: (value: Value) => void
}) {
  return (
    <div className={classes.segmented} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onValue(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
