import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { webhookWords } from '../../../words/en/webhooks.ts'
import type { Endpoint } from '../../api/webhook-shapes.ts'
import { deleteEndpoint, sendPing, switchEndpoint } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Menu, MenuItem, MenuLine } from '../../parts/Menu.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { endpointName } from './states.tsx'

const w = webhookWords.endpoint
const dayMs = 86_400_000

export type EndpointDialog = 'edit' | 'delete' | 'replay'

interface ActionProps {
  readonly endpoint: Endpoint
  /** Whether a file manages the endpoint's settings; pinging, enabling, disabling and replaying stay possible. */
  readonly locked: boolean
  readonly onDialog: (dialog: EndpointDialog) => void
  readonly onDone: () => void
}

/** Enabling and disabling offer Undo instead of asking for confirmation. */
export function EndpointActions({ endpoint, locked, onDialog, onDone }: ActionProps) {
  const { may } = useOrganization()
  const turn = useSwitch(endpoint, onDone)
  const isOn = endpoint.state !== 'disabled'
  const manages = may('webhooks.manage')
  return (
    <>
      {manages && isOn ? <Ping endpoint={endpoint} onDone={onDone} /> : undefined}
      {manages && !isOn ? (
        <Button look="primary" onClick={() => void turn(true)}>
          {w.enable}
        </Button>
      ) : undefined}
      {manages ? (
        <Button disabled={locked} onClick={() => onDialog('edit')}>
          {w.edit}
        </Button>
      ) : undefined}
      {may('deliveries.replay') ? (
        <Menu trigger={<Button icon="chevron">{w.more}</Button>}>
          <MenuItem onClick={() => onDialog('replay')}>{w.replayMissed}</MenuItem>
          {manages ? (
            <>
              {isOn ? <MenuItem onClick={() => void turn(false)}>{w.disable}</MenuItem> : undefined}
              <MenuLine />
              <MenuItem disabled={locked} onClick={() => onDialog('delete')}>
                {w.delete}
              </MenuItem>
            </>
          ) : undefined}
        </Menu>
      ) : undefined}
    </>
  )
}

function useSwitch(endpoint: Endpoint, onDone: () => void) {
  const { slug } = useOrganization()
  return async function turn(next: boolean): Promise<void> {
    try {
      await switchEndpoint(slug, endpoint.id, next)
      if (next) say(w.enabled, { undo: () => void turn(false) })
      else say(w.disabled, { text: w.disabledText, undo: () => void turn(true) })
    } catch (error) {
      sayRefused(error)
    }
    onDone()
  }
}

function Ping({ endpoint, onDone }: { readonly endpoint: Endpoint; readonly onDone: () => void }) {
  const { slug } = useOrganization()
  const isHeld = endpoint.state === 'held'
  const ping = useMutation({
    mutationFn: () => sendPing(slug, endpoint.id),
    onSuccess: () =>
      isHeld ? say(w.pingWaits, { text: w.pingWaitsText }) : say(w.pinged, { text: w.pingedText }),
    onError: sayRefused,
    onSettled: onDone,
  })
  return (
    <Button look="primary" busy={ping.isPending} onClick={() => ping.mutate()}>
      {isHeld ? w.tryNow : w.ping}
    </Button>
  )
}

export function DeleteEndpoint({
  endpoint,
  onClose,
  onDone,
}: {
  readonly endpoint: Endpoint
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { slug } = useOrganization()
  const navigate = useNavigate()
  const removal = useMutation({
    mutationFn: () => deleteEndpoint(slug, endpoint.id),
    onSuccess: async () => {
      say(w.deleted)
      await navigate({ to: '/o/$organization/webhooks', params: { organization: slug } })
      onDone()
    },
  })
  const { pending, held } = endpoint.deliveries
  const used = Date.parse(endpoint.last_attempt_at ?? '') > Date.now() - 7 * dayMs
  return (
    <ConfirmDialog
      onClose={onClose}
      title={w.deleteTitle}
      action={w.delete}
      typed={used ? endpointName(endpoint) : undefined}
      saving={removal}
      onConfirm={() => removal.mutate()}
    >
      <p>{w.deleteText}</p>
      {pending + held === 0 ? undefined : <p>{w.deleteWaiting(pending + held)}</p>}
    </ConfirmDialog>
  )
}
