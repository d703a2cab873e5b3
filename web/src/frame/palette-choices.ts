import { useQuery } from '@tanstack/react-query'
import { useNavigate, type NavigateOptions } from '@tanstack/react-router'
import { useMemo } from 'react'
import { frameWords } from '../../words/en.ts'
import { keysFoundQuery, paletteQuery, type Things } from '../api/palette.ts'
import type { Key } from '../api/shapes.ts'
import type { IconName } from '../parts/Icon.tsx'
import { useSettled } from '../parts/useSettled.ts'
import { may, type Membership } from './membership.ts'
import { places } from './Navigation.tsx'

export interface Choice {
  readonly id: string
  readonly label: string
  readonly kind: string
  readonly icon: IconName
  readonly open: () => void
}

/** A choice without `open`, which is derived from `to`. */
type Place = Omit<Choice, 'open'> & { readonly to: NavigateOptions }

const mostShown = 40
const { paletteKinds: kinds } = frameWords

/** The actions that the palette offers, besides revoking keys. */
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

export function useChoices(
  membership: Membership,
  text: string,
  onClose: () => void,
): readonly Choice[] {
  const navigate = useNavigate()
  const { slug } = membership
  const things = useQuery(paletteQuery(slug)).data
  // Drops a leading "revoke", so that "revoke pay" finds keys named "pay".
  const found = useQuery(keysFoundQuery(slug, useSettled(text.replace(/^revoke\s*/i, '')))).data
  return useMemo(() => {
    const keys = found?.items ?? []
    const wanted = text.toLowerCase()
    const named = [
      ...pageChoices(membership),
      ...actionChoices(membership),
      ...thingChoices(slug, things),
      ...keyChoices(slug, keys),
      ...(things?.endpoints ?? []).map((endpoint) => endpointChoice(slug, endpoint)),
      ...revokeChoices(membership, text, keys),
    ].filter((choice) => `${choice.label} ${choice.id}`.toLowerCase().includes(wanted))
    return [...pastedChoices(slug, text), ...named]
      .slice(0, mostShown)
      .map(({ to, ...choice }) => ({
        ...choice,
        open: () => {
          onClose()
          void navigate(to)
        },
      }))
  }, [membership, slug, things, found, text, navigate, onClose])
}

function pageChoices(membership: Membership): Place[] {
  return places
    .filter((place) => may(membership, place.deps))
    .map((place) => ({
      id: place.name,
      label: frameWords.pages[place.name],
      kind: kinds.page,
      icon: place.icon,
      to: { to: place.to, params: { organization: membership.slug } },
    }))
}

function actionChoices(membership: Membership): Place[] {
  return doings
    .filter((doing) => may(membership, doing.deps))
    .map((doing) => ({
      id: `do-${doing.name}`,
      label: frameWords.doings[doing.name],
      kind: kinds.action,
      icon: 'plus',
      to: { to: doing.to, params: { organization: membership.slug }, search: doing.search },
    }))
}

function thingChoices(organization: string, things: Things | undefined): Place[] {
  return (things?.targets ?? []).map((target) => ({
    id: target.id,
    label: target.slug,
    kind: kinds.target,
    icon: 'targets',
    to: {
      to: '/o/$organization/targets/$target',
      params: { organization, target: target.slug },
    },
  }))
}

function endpointChoice(organization: string, endpoint: Things['endpoints'][number]): Place {
  return {
    id: endpoint.id,
    label: endpoint.url,
    kind: kinds.endpoint,
    icon: 'webhooks',
    to: {
      to: '/o/$organization/webhooks/$endpoint',
      params: { organization, endpoint: endpoint.id },
    },
  }
}

function keyChoices(organization: string, keys: readonly Key[]): Place[] {
  return keys.map((key) => ({
    id: key.id,
    label: `${key.name} ${key.hint}`,
    kind: kinds.key,
    icon: 'keys',
    to: { to: '/o/$organization/keys/$key', params: { organization, key: key.id } },
  }))
}

function revokeChoices(membership: Membership, text: string, keys: readonly Key[]): Place[] {
  if (!/^rev/i.test(text) || !may(membership, 'keys.issue')) return []
  return keys
    .filter((key) => key.state === 'active')
    .map((key) => ({
      id: `revoke-${key.id}`,
      label: frameWords.revokeKey(key.name),
      kind: kinds.action,
      icon: 'close',
      to: {
        to: '/o/$organization/keys/$key',
        params: { organization: membership.slug, key: key.id },
        search: { do: 'revoke' },
      },
    }))
}

/** Offers to open what a pasted id names. */
function pastedChoices(organization: string, id: string): Place[] {
  const params = { organization }
  if (id.startsWith('req_')) {
    const to = { to: '/o/$organization/calls', params, search: { call: id } } as const
    return [{ id, label: id, kind: kinds.call, icon: 'calls', to }]
  }
  if (id.startsWith('evt_')) {
    const to = {
      to: '/o/$organization/webhooks/deliveries',
      params,
      search: { event: id },
    } as const
    return [{ id, label: id, kind: kinds.event, icon: 'webhooks', to }]
  }
  if (id.startsWith('key_')) {
    const to = { to: '/o/$organization/keys/$key', params: { organization, key: id } } as const
    return [{ id: `pasted-${id}`, label: id, kind: kinds.key, icon: 'keys', to }]
  }
  return []
}
