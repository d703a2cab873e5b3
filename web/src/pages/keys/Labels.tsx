import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Key } from '../../api/shapes.ts'
import { keysWords } from '../../../words/en/keys.ts'
import { cx } from '../../parts/cx.ts'
import controls from '../../parts/controls.module.css'
import { isLabelFilter } from './label-text.ts'
import classes from './labels.module.css'

const w = keysWords.labels
const shownInList = 1

/** The labels of a key, each a link to all keys with that label. In a list, only the first label is shown. */
export function Labels({
  organization,
  labels = {},
  inList = false,
}: {
  readonly organization: string
  readonly labels: Key['labels']
  readonly inList?: boolean
}) {
  const pairs = Object.entries(labels)
  const shown = inList ? pairs.slice(0, shownInList) : pairs
  const others = pairs.slice(shown.length)
  return (
    <span className={cx(classes.labels, inList && classes.oneLine)}>
      {shown.map(([name, value]) => (
        <Link
          key={name}
          to="/o/$organization/keys"
          params={{ organization }}
          search={{ label: `${name}:${value}` }}
          className={classes.label}
          title={w.showAll(`${name}: ${value}`)}
          tabIndex={inList ? -1 : undefined}
        >
          <span className={classes.text}>
            <span className={classes.name}>{name}</span>
            {value === '' ? '' : `: ${value}`}
          </span>
        </Link>
      ))}
      {others.length === 0 ? undefined : (
        <span
          className="muted"
          title={others.map(([name, value]) => `${name}: ${value}`).join('\n')}
        >
          {w.more(others.length)}
        </span>
      )}
    </span>
  )
}

export function LabelFilter({ onAdd }: { readonly onAdd: (label: string) => void }) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      className={classes.filter}
      onSubmit={(event) => {
        event.preventDefault()
        const label = text.trim().replace(/^([^:=]*?)\s*[:=]\s*/, '$1:')
        if (label === '') return
        setWrong(!isLabelFilter(label))
        if (!isLabelFilter(label)) return
        onAdd(label)
        setText('')
      }}
    >
      <input
        className={controls.input}
        aria-label={w.filter}
        aria-invalid={isWrong ? true : undefined}
        placeholder={w.placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value)
          setWrong(false)
        }}
      />
      {isWrong ? (
        <span role="alert" className={controls.error}>
          {w.wrongFilter}
        </span>
      ) : undefined}
    </form>
  )
}
