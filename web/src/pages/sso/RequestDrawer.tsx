import { directoryWords } from '../../../words/en/directory.ts'
import type { DirectoryRequest } from '../../api/directory.ts'
import { CopyText, Snippet } from '../../parts/Copy.tsx'
import { Drawer } from '../../parts/Dialogs.tsx'
import { duration } from '../../parts/numbers.ts'
import { Facts } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'

const w = directoryWords.requests

export function RequestDrawer({
  request,
  onClose,
}: {
  readonly request: DirectoryRequest
  readonly onClose: () => void
}) {
  return (
    <Drawer open title={`${request.method} ${request.path}`} onClose={onClose}>
      <div className="stack">
        <Facts
          facts={[
            [w.columns.status, [request.status, request.scim_type].filter(Boolean).join(' ')],
            ...(request.detail === undefined ? [] : ([[w.reason, request.detail]] as const)),
            ...(request.ignored.length === 0
              ? []
              : ([[w.ignored, request.ignored.join(', ')]] as const)),
            [w.columns.time, <Time key="time" at={request.at} />],
            [w.columns.took, duration(request.duration_ms)],
            [w.address, request.address],
            [w.columns.agent, request.agent],
            [w.token, <CopyText key="token" text={request.token_id} what={w.token} />],
          ]}
        />
        {request.sent === undefined ? (
          <p className="muted">{w.noBody}</p>
        ) : (
          <Snippet label={w.body} text={pretty(request.sent)} />
        )}
      </div>
    </Drawer>
  )
}

// Formats a request body; a truncated one is not valid JSON, and is shown as it was stored.
function pretty(sent: string): string {
  try {
    return JSON.stringify(JSON.parse(sent), undefined, 2)
  } catch {
    return sent
  }
}
