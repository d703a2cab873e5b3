import { Dialog } from '@base-ui/react/dialog'
import { useId, useState, type KeyboardEvent } from 'react'
import { frameWords } from '../../words/en.ts'
import { Icon } from '../parts/Icon.tsx'
import classes from './frame.module.css'
import type { Membership } from './membership.ts'
import { useChoices, type Choice } from './palette-choices.ts'

/** The command palette (Ctrl K). */
export function Palette({
  membership,
  onClose,
}: {
  readonly membership: Membership
  readonly onClose: () => void
}) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const listId = useId()
  const choices = useChoices(membership, text.trim(), onClose)
  const chosen = choices[Math.min(index, choices.length - 1)]

  function move(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && choices.length > 0) {
      event.preventDefault()
      setIndex((index + step + choices.length) % choices.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      chosen?.open()
    }
  }

  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={classes.palette} aria-label={frameWords.paletteLabel}>
          <div className={classes.paletteBox}>
            <Icon name="search" />
            <input
              role="combobox"
              aria-expanded="true"
              aria-controls={listId}
              aria-activedescendant={chosen === undefined ? undefined : `${listId}-${chosen.id}`}
              aria-label={frameWords.paletteLabel}
              placeholder={frameWords.palettePlaceholder}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                setIndex(0)
              }}
              onKeyDown={move}
            />
          </div>
          <Choices listId={listId} choices={choices} chosen={chosen} onLook={setIndex} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({
  listId,
  choices,
  chosen,
  onLook,
}: {
  readonly listId: string
  readonly choices: readonly Choice[]
  readonly chosen: Choice | undefined
  readonly onLook: (index: number) => void
}) {
  return (
    <>
      <div
        className={classes.paletteList}
        role="listbox"
        id={listId}
        aria-label={frameWords.paletteLabel}
      >
        {choices.map((choice, index) => (
          <div
            key={choice.id}
            id={`${listId}-${choice.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={choice === chosen}
            className={classes.option}
            onClick={choice.open}
            onKeyDown={undefined}
            onPointerMove={() => onLook(index)}
          >
            <Icon name={choice.icon} />
            <span className="break">{choice.label}</span>
            <span>{choice.kind}</span>
          </div>
        ))}
      </div>
      {choices.length === 0 ? (
        <p className={classes.paletteNone}>{frameWords.paletteNothing}</p>
      ) : undefined}
    </>
  )
}
