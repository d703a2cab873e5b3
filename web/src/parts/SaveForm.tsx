import type { FormEvent, ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { ProblemNotice } from './States.tsx'

/** A form on a page: its fields, why saving was refused, and the button that saves, for whoever may. */
export function SaveForm({
  layout = 'form',
  saving,
  editable = true,
  disabled = false,
  look = 'primary',
  onSave,
  children,
}: {
  /** `form` keeps lines short, `stack` takes the room there is. */
  readonly layout?: 'form' | 'stack'
  readonly saving: {
    readonly isPending: boolean
    readonly isError: boolean
    readonly error: unknown
  }
  readonly editable?: boolean
  readonly disabled?: boolean
  readonly look?: 'primary' | 'plain'
  readonly onSave: () => void
  readonly children: ReactNode
}) {
  function submit(event: FormEvent) {
    event.preventDefault()
    onSave()
  }
  return (
    <form className={layout} onSubmit={submit}>
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
