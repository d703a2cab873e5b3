import { useMutation } from '@tanstack/react-query'
import { download } from '../../api/call.ts'
import { askedCalls, type CallFilter } from '../../api/calls.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { Button } from '../../parts/Button.tsx'
import { Menu, MenuItem } from '../../parts/Menu.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'

export function ExportCalls({
  organization,
  filter,
}: {
  readonly organization: string
  readonly filter: CallFilter
}) {
  const save = useMutation({
    mutationFn: (format: 'ndjson' | 'csv') =>
      download(
        'POST /organizations/:organization/calls/export',
        { path: { organization }, body: { ...askedCalls(filter), format } },
        `calls-${organization}.${format}`,
      ),
    onError: sayRefused,
    onSuccess: () => say(w.exported, { text: w.exportedText }),
  })
  return (
    <Menu trigger={<Button busy={save.isPending}>{w.export}</Button>}>
      <MenuItem onClick={() => save.mutate('ndjson')}>{w.exportNdjson}</MenuItem>
      <MenuItem onClick={() => save.mutate('csv')}>{w.exportCsv}</MenuItem>
    </Menu>
  )
}
