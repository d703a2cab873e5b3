import { LeaveQuestion } from './LeaveQuestion.tsx'
import { useLeaving } from './leaving.ts'

/** Asks before a page with unsaved changes is left. */
export function LeaveGuard({ isDirty }: { readonly isDirty: () => boolean }) {
  const leaving = useLeaving(isDirty)
  return <LeaveQuestion open={leaving.isAsked} onStay={leaving.stay} onLeave={leaving.leave} />
}
