import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useMemo, useState, type KeyboardEvent } from 'react'
import { frameWords } from '../../words/en.ts'
import { keysFoundQuery, paletteQuery } from '../api/palette.ts'
import { Icon, type IconName } from '../parts/Icon.tsx'
import { useSettled } from '../parts/useSettled.ts'
import classes from './frame.module.css'
import { may, type Membership } from './membership.ts'
import { places } from './Navigation.tsx'

interface Choice {
  readonly id: string
  readonly label: string
  readonly kind: string
  readonly icon: IconName
  readonly open: () => void
}

const mostShown = 40

/** What the palette begins for somebody: each is a page with its dialog open. */
const doings = [
  { name: 'issueKey', deps: 'keys.issue', to: '/o/$organization/keys', search: { issue: 'now' } },
  {
    name: 'addTarget',
    deps: 'targets.manage',
    to: '/o/$organization/targets',
    search: { add: 'now' },
  },
  {
    name: 'addEndpoint',
    deps: 'webhooks.manage',
    to: '/o/$organization/webhooks',
    search: { add: 'now' },
  },
  {
    name: 'invite',
    deps: 'members.manage',
    to: '/o/$organization/members',
    search: { tab: 'invitations' },
  },
] as const

/** Ctrl K: every page, key, target and endpoint by name, and pasted ids. */
export function Palette({
  membership,
  onClose,
}: {
  readonly membership: Membership
  readonly onClose: () => void
}) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const listId = useId()
  const choices = useChoices(membership, text.trim(), onClose)
  const chosen = choices[Math.min(index, choices.length - 1)]

  function move(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && choices.length > 0) {
      event.preventDefault()
      setIndex((index + step + choices.length) % choices.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      chosen?.open()
    }
  }

  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.veil} />
        <Dialog.Popup className={classes.palette} aria-label={frameWords.paletteLabel}>
          <div className={classes.paletteBox}>
            <Icon name="search" />
            <input
              role="combobox"
              aria-expanded="true"
              aria-controls={listId}
              aria-activedescendant={chosen === undefined ? undefined : `${listId}-${chosen.id}`}
              aria-label={frameWords.paletteLabel}
              placeholder={frameWords.palettePlaceholder}
              autoComplete="off"
              spellCheck={false}
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                setIndex(0)
              }}
              onKeyDown={move}
            />
          </div>
          <div
            className={classes.paletteList}
            role="listbox"
            id={listId}
            aria-label={frameWords.paletteLabel}
          >
            {choices.map((choice) => (
              <div
                key={choice.id}
                id={`${listId}-${choice.id}`}
                role="option"
                tabIndex={-1}
                aria-selected={choice === chosen}
                className={classes.option}
                onClick={choice.open}
                onKeyDown={undefined}
                onPointerMove={() => setIndex(choices.indexOf(choice))}
              >
                <Icon name={choice.icon} />
                <span className="break">{choice.label}</span>
                <span>{choice.kind}</span>
              </div>
            ))}
          </div>
          {choices.length === 0 ? (
            <p className={classes.paletteNone}>{frameWords.paletteNothing}</p>
          ) : undefined}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function useChoices(membership: Membership, text: string, onClose: () => void): readonly Choice[] {
  const navigate = useNavigate()
  const organization = membership.slug
  const things = useQuery(paletteQuery(organization))
  // Without the word for an action before it: "revoke pay" finds the keys named so.
  const found = useQuery(keysFoundQuery(organization, useSettled(text.replace(/^revoke\s*/i, ''))))
  return useMemo(() => {
    const params = { organization }
    function go(open: () => Promise<void>): () => void {
      return () => {
        onClose()
        void open()
      }
    }
    const pages: Choice[] = places
      .filter((place) => may(membership, place.deps))
      .map((place) => ({
        id: place.name,
        label: frameWords.pages[place.name],
        kind: frameWords.paletteKinds.page,
        icon: place.icon,
        open: go(() => navigate({ to: place.to, params })),
      }))
    const everyKey = found.data?.items ?? []
    const keys: Choice[] = everyKey.map((key) => ({
      id: key.id,
      label: `${key.name} ${key.hint}`,
      kind: frameWords.paletteKinds.key,
      icon: 'keys',
      open: go(() =>
        navigate({ to: '/o/$organization/keys/$key', params: { organization, key: key.id } }),
      ),
    }))
    const targets: Choice[] = (things.data?.targets ?? []).map((target) => ({
      id: target.id,
      label: target.slug,
      kind: frameWords.paletteKinds.target,
      icon: 'targets',
      open: go(() =>
        navigate({
          to: '/o/$organization/targets/$target',
          params: { organization, target: target.slug },
        }),
      ),
    }))
    const endpoints: Choice[] = (things.data?.endpoints ?? []).map((endpoint) => ({
      id: endpoint.id,
      label: endpoint.url,
      kind: frameWords.paletteKinds.endpoint,
      icon: 'webhooks',
      open: go(() =>
        navigate({
          to: '/o/$organization/webhooks/$endpoint',
          params: { organization, endpoint: endpoint.id },
        }),
      ),
    }))
    const actions: Choice[] = doings
      .filter((doing) => may(membership, doing.deps))
      .map((doing) => ({
        id: `do-${doing.name}`,
        label: frameWords.doings[doing.name],
        kind: frameWords.paletteKinds.action,
        icon: 'plus',
        open: go(() => navigate({ to: doing.to, params, search: doing.search })),
      }))
    // To revoke something is offered only to those who name it.
    const wantsRevoke = /^rev/i.test(text)
    const revocations: Choice[] =
      wantsRevoke && may(membership, 'keys.issue')
        ? everyKey
            .filter((key) => key.state === 'active')
            .map((key) => ({
              id: `revoke-${key.id}`,
              label: frameWords.revokeKey(key.name),
              kind: frameWords.paletteKinds.action,
              icon: 'close',
              open: go(() =>
                navigate({
                  to: '/o/$organization/keys/$key',
                  params: { organization, key: key.id },
                  search: { do: 'revoke' },
                }),
              ),
            }))
        : []
    const pasted = pastedChoice(text)
    const wanted = text.toLowerCase()
    const all = [...pages, ...actions, ...targets, ...keys, ...endpoints, ...revocations].filter(
      (choice) => `${choice.label} ${choice.id}`.toLowerCase().includes(wanted),
    )
    return [...pasted, ...all].slice(0, mostShown)

    function pastedChoice(id: string): Choice[] {
      if (id.startsWith('req_'))
        return [
          {
            id,
            label: id,
            kind: frameWords.paletteKinds.call,
            icon: 'calls',
            open: go(() =>
              navigate({ to: '/o/$organization/calls', params, search: { call: id } }),
            ),
          },
        ]
      if (id.startsWith('evt_'))
        return [
          {
            id,
            label: id,
            kind: frameWords.paletteKinds.event,
            icon: 'webhooks',
            open: go(() =>
              navigate({
                to: '/o/$organization/webhooks/deliveries',
                params,
                search: { event: id },
              }),
            ),
          },
        ]
      if (id.startsWith('key_'))
        return [
          {
            id: `pasted-${id}`,
            label: id,
            kind: frameWords.paletteKinds.key,
            icon: 'keys',
            open: go(() =>
              navigate({ to: '/o/$organization/keys/$key', params: { organization, key: id } }),
            ),
          },
        ]
      return []
    }
  }, [membership, organization, things.data, found.data, text, navigate, onClose])
}
