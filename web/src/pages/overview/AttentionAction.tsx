import type { Attention } from '../../api/shapes.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { ButtonLink } from '../../parts/Button.tsx'

/** Links to the thing that needs attention, or to the page that lists it. */
export function AttentionAction({
  organization,
  item,
}: {
  readonly organization: string
  readonly item: Attention
}) {
  const params = { organization }
  switch (item.subject_kind) {
    case 'key':
      return <ToKey organization={organization} id={item.subject_id} />
    case 'target':
      return (
        <ButtonLink
          small
          to="/o/$organization/targets/$target"
          params={{ organization, target: item.subject_id }}
        >
          {w.open}
        </ButtonLink>
      )
    case 'endpoint':
      return (
        <ButtonLink
          small
          to="/o/$organization/webhooks/$endpoint"
          params={{ organization, endpoint: item.subject_id }}
        >
          {w.open}
        </ButtonLink>
      )
    case 'domain':
      return (
        <ButtonLink small to="/o/$organization/sso" params={params}>
          {w.open}
        </ButtonLink>
      )
    case 'access_token':
      return (
        <ButtonLink small to="/o/$organization/settings/access-tokens" params={params}>
          {w.open}
        </ButtonLink>
      )
    case 'scim_token':
      return (
        <ButtonLink small to="/o/$organization/sso" params={params} search={{ tab: 'directory' }}>
          {w.open}
        </ButtonLink>
      )
    default:
      return (
        <ButtonLink small to="/o/$organization/calls" params={params}>
          {w.showCalls}
        </ButtonLink>
      )
  }
}

function ToKey({ organization, id }: { readonly organization: string; readonly id: string }) {
  return (
    <ButtonLink small to="/o/$organization/keys/$key" params={{ organization, key: id }}>
      {w.open}
    </ButtonLink>
  )
}
