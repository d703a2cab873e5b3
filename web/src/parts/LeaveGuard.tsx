import { lazy, Suspense } from 'react'
import { useLeaving } from './leaving.ts'
import { whole } from './upgrade.ts'

const LeaveQuestion = lazy(async () => ({
  default: (await whole(async () => await import('./LeaveQuestion.tsx'))()).LeaveQuestion,
}))

export function LeaveGuard({ isDirty }: { readonly isDirty: () => boolean }) {
  const leaving = useLeaving(isDirty)
  if (!leaving.isAsked) return undefined
  return (
    <Suspense fallback={undefined}>
      <LeaveQuestion open onStay={leaving.stay} onLeave={leaving.leave} />
    </Suspense>
  )
}
