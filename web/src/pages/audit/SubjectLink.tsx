import type { LinkProps } from '@tanstack/react-router'
import type { AuditEntry } from '../../api/shapes.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { ButtonLink } from '../../parts/Button.tsx'

type Place = Pick<LinkProps, 'to' | 'search'> & { readonly params?: Record<string, string> }

export function SubjectLink({
  organization,
  entry,
}: {
  readonly organization: string
  readonly entry: AuditEntry
}) {
  const place = placeOf(entry)
  if (place === undefined) return undefined
  const { to, params, search } = place
  return (
    <ButtonLink
      small
      to={to as never}
      params={{ organization, ...params } as never}
      search={search as never}
    >
      {w.open}
    </ButtonLink>
  )
}

const settingsOf: Readonly<Record<string, Place | undefined>> = {
  access_token: { to: '/o/$organization/settings/access-tokens' },
  connection: { to: '/o/$organization/sso', search: { tab: 'connection' } },
  directory_group: { to: '/o/$organization/sso', search: { tab: 'roles' } },
  directory_user: { to: '/o/$organization/sso', search: { tab: 'directory' } },
  domain: { to: '/o/$organization/sso', search: { tab: 'domains' } },
  invitation: { to: '/o/$organization/members', search: { tab: 'invitations' } },
  organization: { to: '/o/$organization/settings' },
  scim_token: { to: '/o/$organization/sso', search: { tab: 'directory' } },
}

function placeOf({ subject }: AuditEntry): Place | undefined {
  const { kind, id, name } = subject
  if (kind === 'api_key') return { to: '/o/$organization/keys/$key', params: { key: id } }
  if (kind === 'membership')
    return { to: '/o/$organization/members/$member', params: { member: id } }
  if (kind === 'target' && name !== undefined)
    return { to: '/o/$organization/targets/$target', params: { target: name } }
  if (kind === 'endpoint' && name !== undefined)
    return { to: '/o/$organization/webhooks/$endpoint', params: { endpoint: id } }
  if (kind === 'delivery')
    return { to: '/o/$organization/webhooks/deliveries', search: { delivery: id } }
  if (kind === 'operation')
    return { to: '/o/$organization/operations/$operation', params: { operation: id } }
  return settingsOf[kind]
}
