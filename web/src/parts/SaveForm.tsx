import { useCallback, useEffect, useRef, type FormEvent, type ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { useEdited } from './leaving.ts'
import { LeaveGuard } from './LeaveGuard.tsx'
import { ProblemNotice } from './States.tsx'

interface SaveFormProps {
  /** `form` limits the line length, `stack` uses the available width. */
  readonly layout?: 'form' | 'stack'
  readonly saving: {
    readonly isPending: boolean
    readonly isError: boolean
    readonly error: unknown
  }
  readonly editable?: boolean
  /** Whether there is nothing to save, because the fields are unchanged or invalid. */
  readonly disabled?: boolean
  readonly look?: 'primary' | 'plain'
  readonly onSave: () => void
  readonly children: ReactNode
}

/** A form that asks before the page is left with unsaved changes. */
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

/** Whether the form was edited since it was last saved, and now has something to save. */
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
