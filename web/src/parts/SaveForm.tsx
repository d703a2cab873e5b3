import { useCallback, useEffect, useRef, type FormEvent, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { useEdited } from './leaving.ts'
import { LeaveGuard } from './LeaveGuard.tsx'
import { ProblemNotice } from './States.tsx'

interface SaveFormProps {
  /** `form` keeps lines short, `stack` takes the room there is. */
  readonly layout?: 'form' | 'stack'
  readonly saving: {
    readonly isPending: boolean
    readonly isError: boolean
    readonly error: unknown
  }
  readonly editable?: boolean
  /** Nothing to save: the fields say what is saved already, or something that can't be. */
  readonly disabled?: boolean
  readonly look?: 'primary' | 'plain'
  readonly onSave: () => void
  readonly children: ReactNode
}

/** A form on a page: its fields, why saving was refused, and the button that saves, for whoever may; leaving it with changes asks. */
export function SaveForm({
  layout = 'form',
  saving,
  editable = true,
  disabled = false,
  look = 'primary',
  onSave,
  children,
}: SaveFormProps) {
  const { isDirty, onInput } = useDirty(saving, disabled)
  function submit(event: FormEvent) {
    event.preventDefault()
    onSave()
  }
  return (
    <form className={layout} onSubmit={submit} onInput={onInput}>
      <LeaveGuard isDirty={isDirty} />
      {children}
      {saving.isError ? <ProblemNotice error={saving.error} /> : undefined}
      {editable ? (
        <div>
          <Button type="submit" look={look} busy={saving.isPending} disabled={disabled}>
            {words.save}
          </Button>
        </div>
      ) : undefined}
    </form>
  )
}

/** Edited since it was last saved, and not back at what is saved. */
function useDirty({ isPending, isError }: SaveFormProps['saving'], isSame: boolean) {
  const { isEdited, onInput, forget } = useEdited()
  const wasPending = useRef(false)
  const same = useRef(isSame)
  useEffect(() => {
    same.current = isSame
    if (wasPending.current && !isPending && !isError) forget()
    wasPending.current = isPending
  }, [isSame, isPending, isError, forget])
  return { onInput, isDirty: useCallback(() => isEdited() && !same.current, [isEdited]) }
}
