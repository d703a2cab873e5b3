import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { deleteConnection, makeDefault, switchConnection, type Connection } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Menu, MenuItem, MenuLine } from '../../parts/Menu.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { Dependents } from './Dependents.tsx'

const w = ssoWords.connection

/** While a file manages the connection (`locked`), people cannot edit or delete it. */
export function ConnectionActions({
  connection,
  locked,
  onEdit,
}: {
  readonly connection: Connection
  readonly locked: boolean
  readonly onEdit: () => void
}) {
  const { turn, prefer } = useSwitches(connection)
  const [deleting, setDeleting] = useState(false)
  const on = connection.disabled_at === undefined
  return (
    <>
      <Button small disabled={locked} onClick={onEdit}>
        {w.edit}
      </Button>
      <Menu
        trigger={
          <Button small icon="chevron">
            {w.more}
          </Button>
        }
      >
        {connection.is_default ? undefined : (
          <MenuItem onClick={() => void prefer()}>{w.makeDefault}</MenuItem>
        )}
        <MenuItem onClick={() => void turn(!on)}>{on ? w.disable : w.enable}</MenuItem>
        <MenuLine />
        <MenuItem disabled={locked} onClick={() => setDeleting(true)}>
          {w.delete}
        </MenuItem>
      </Menu>
      <DeleteConnection
        connection={connection}
        open={deleting}
        onClose={() => setDeleting(false)}
      />
    </>
  )
}

/** Enabling, disabling and choosing the default need no confirmation, because they are reversible. */
function useSwitches(connection: Connection) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const refresh = () => void client.invalidateQueries({ queryKey: [slug, 'sso'] })
  async function turn(next: boolean) {
    try {
      await switchConnection(slug, connection.id, next)
      say(next ? w.enabled : w.disabled, {
        ...(next ? {} : { text: w.disabledText }),
        undo: () => void turn(!next),
      })
    } catch (error) {
      sayRefused(error)
    }
    refresh()
  }
  async function prefer() {
    try {
      await makeDefault(slug, connection.id)
      say(w.madeDefault)
    } catch (error) {
      sayRefused(error)
    }
    refresh()
  }
  return { turn, prefer }
}

function DeleteConnection({
  connection,
  open,
  onClose,
}: {
  readonly connection: Connection
  readonly open: boolean
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const removal = useMutation({
    mutationFn: () => deleteConnection(slug, connection.id),
    onSuccess: () => {
      say(w.deleted)
      void client.invalidateQueries({ queryKey: [slug, 'sso'] })
    },
  })
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={w.deleteTitle(connection.name)}
      action={w.delete}
      typed={connection.last_used_at === undefined ? undefined : connection.name}
      saving={removal}
      onConfirm={() => removal.mutate()}
    >
      <p>{w.deleteText}</p>
      {open ? <Dependents connection={connection.id} /> : undefined}
    </ConfirmDialog>
  )
}
