import { useId, useState, type ComponentProps, type KeyboardEvent } from 'react'
import { words } from '../../words/en.ts'
import { cx } from './cx.ts'
import controls from './controls.module.css'
import type { Option } from './Field.tsx'
import classes from './picker.module.css'

const w = words.picker

interface PickerProps {
  readonly label: string
  /** Whether to hide the label, because the placeholder says the same. */
  readonly bare?: boolean
  readonly text: string
  readonly options: readonly Option[]
  readonly busy: boolean
  /** Called when somebody points at the field or focuses it, because its options will soon be needed. */
  readonly onNear?: () => void
  readonly onText: (text: string) => void
  readonly onPick: (option: Option) => void
}

/** A search field for a list that only the server has in full. */
export function Picker(picker: PickerProps) {
  const id = useId()
  const list = useOpenList(picker)
  return (
    <div className={cx(classes.picker, picker.bare === true && classes.bare)}>
      {picker.bare === true ? undefined : (
        <label className={controls.label} htmlFor={id}>
          {picker.label}
        </label>
      )}
      <input
        id={id}
        role="combobox"
        className={controls.input}
        aria-expanded={list.isOpen}
        aria-controls={`${id}list`}
        aria-autocomplete="list"
        aria-activedescendant={list.isOpen ? `${id}${list.index}` : undefined}
        {...(picker.bare === true
          ? { 'aria-label': picker.label, placeholder: picker.label }
          : { placeholder: words.typeToFind })}
        autoComplete="off"
        spellCheck={false}
        value={picker.text}
        {...list.box}
      />
      {list.isOpen ? <Options id={id} picker={picker} index={list.index} /> : undefined}
      <span role="status" className="visually-hidden">
        {list.isOpen ? (picker.busy ? w.searching : w.found(picker.options.length)) : ''}
      </span>
    </div>
  )
}

function Options({
  id,
  picker,
  index,
}: {
  readonly id: string
  readonly picker: PickerProps
  readonly index: number
}) {
  return (
    <div className={classes.list} role="listbox" id={`${id}list`} aria-label={picker.label}>
      {picker.options.map((option, place) => (
        <div
          key={option.value}
          id={`${id}${place}`}
          role="option"
          tabIndex={-1}
          aria-selected={place === index}
          className={classes.option}
          // The field must keep the focus; otherwise the list would close before the click arrives.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => picker.onPick(option)}
          onKeyDown={undefined}
        >
          {option.label}
        </div>
      ))}
      {picker.options.length === 0 ? (
        <p className={classes.nothing}>{picker.busy ? w.searching : w.nothing}</p>
      ) : undefined}
    </div>
  )
}

function useOpenList({ options, onText, onPick, onNear }: PickerProps) {
  const [isOpen, setOpen] = useState(false)
  const [marked, mark] = useState(0)
  const index = Math.min(marked, Math.max(0, options.length - 1))
  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      if (isOpen) mark((index + step + options.length) % Math.max(1, options.length))
      else setOpen(true)
    }
    if (event.key === 'Escape' && isOpen) {
      event.stopPropagation()
      setOpen(false)
    }
    const option = options[index]
    if (event.key !== 'Enter' || !isOpen || option === undefined) return
    event.preventDefault()
    onPick(option)
    setOpen(false)
  }
  const box: ComponentProps<'input'> = {
    onKeyDown,
    onPointerEnter: onNear,
    onFocus: (event) => {
      onNear?.()
      event.currentTarget.select()
    },
    onClick: () => setOpen(true),
    onBlur: () => setOpen(false),
    onChange: (event) => {
      onText(event.target.value)
      setOpen(true)
      mark(0)
    },
  }
  return { isOpen, index, box }
}
