import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { sessionsQuery } from '../../api/entry.ts'
import { frameWords } from '../../../words/en.ts'
import { chooseLanguage, chosenLanguage, languages } from '../../../words/locale.ts'
import { membersWords } from '../../../words/en/members.ts'
import { usePerson } from '../../frame/membership.ts'
import { useSingleKeys } from '../../frame/shortcuts.ts'
import { useTheme } from '../../frame/theme.ts'
import { Button } from '../../parts/Button.tsx'
import { Segmented, SwitchRow, TextField } from '../../parts/Field.tsx'
import { duration } from '../../parts/numbers.ts'
import { QueryState, fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card, Columns, PageHead, Pile } from '../../parts/Surface.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { SessionList } from '../members/SessionList.tsx'
import { Identities } from './Identities.tsx'

const w = membersWords.you

export function You() {
  return (
    <>
      <PageHead title={w.title} lead={w.lead} />
      <Pile>
        <Columns>
          <Profile />
          <Appearance />
        </Columns>
        <Identities />
        <Sessions />
      </Pile>
    </>
  )
}

function Profile() {
  const me = usePerson()
  const client = useQueryClient()
  const [name, setName] = useState(me.name)
  const save = useMutation({
    mutationFn: () => call('PATCH /me', { body: { name: name.trim() } }, { version: me.version }),
    onSuccess: () => {
      say(w.saved)
      void client.invalidateQueries({ queryKey: ['me'] })
    },
  })
  return (
    <Card title={w.profile}>
      <SaveForm
        layout="stack"
        saving={save}
        disabled={name.trim() === '' || name === me.name}
        onSave={() => save.mutate()}
      >
        <TextField
          label={w.name}
          autoComplete="name"
          required
          maxLength={100}
          error={fieldError(save.error, 'name')}
          value={name}
          onValue={setName}
        />
        <TextField label={w.email} hint={w.emailHint} readOnly value={me.email ?? ''} />
      </SaveForm>
    </Card>
  )
}

function Appearance() {
  const [theme, choose] = useTheme()
  const [keys, setKeys] = useSingleKeys()
  return (
    <Card title={w.appearance}>
      <div className="stack">
        <div>
          <Segmented
            label={w.theme}
            value={theme}
            options={(['system', 'light', 'dark'] as const).map((value) => ({
              value,
              label: frameWords.themes[value],
            }))}
            onValue={choose}
          />
        </div>
        <div>
          <Segmented
            label={frameWords.language}
            value={chosenLanguage()}
            options={(['system', ...languages] as const).map((value) => ({
              value,
              label: frameWords.languages[value],
            }))}
            onValue={chooseLanguage}
          />
        </div>
        <SwitchRow
          label={frameWords.shortcuts}
          hint={frameWords.shortcutsHint}
          checked={keys}
          onValue={setKeys}
        />
      </div>
    </Card>
  )
}

function Sessions() {
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (session: string | undefined) =>
      session === undefined
        ? call('DELETE /me/sessions', {})
        : call('DELETE /me/sessions/:session', { path: { session } }),
    onError: sayRefused,
    onSuccess: ({ ended, confirmation }) => {
      say(membersWords.session.ended(ended), {
        text: membersWords.session.proof(confirmation.nodes, duration(confirmation.took_ms)),
      })
      void client.invalidateQueries({ queryKey: ['me', 'sessions'] })
    },
  })
  const items = sessions.data?.items
  return (
    <Card
      flush
      title={w.sessions}
      actions={
        items !== undefined && items.length > 1 ? (
          <Button small look="danger" busy={end.isPending} onClick={() => end.mutate(undefined)}>
            {w.endOthers}
          </Button>
        ) : undefined
      }
    >
      {items === undefined ? (
        <QueryState query={sessions} padded />
      ) : (
        <SessionList sessions={items} busy={end.isPending} onEnd={(id) => end.mutate(id)} />
      )}
    </Card>
  )
}
