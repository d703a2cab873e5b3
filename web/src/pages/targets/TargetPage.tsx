import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState, type ReactNode } from 'react'
import { call } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { targetQuery } from '../../api/targets.ts'
import { targetsWords as w } from '../../../words/en/targets.ts'
import { ManagedNotice, ManagedTag, useManaged } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Facts, PageHead, Pile } from '../../parts/Surface.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { TrafficPanel } from '../calls/TrafficPanel.tsx'
import { Capture } from './Capture.tsx'
import { HealthStrip } from './HealthStrip.tsx'
import { Limits } from './Limits.tsx'
import { Rules } from './Rules.tsx'
import classes from './targets.module.css'
import { TargetState } from './Targets.tsx'
import { TryRequest } from './TryRequest.tsx'
import { Upstream } from './Upstream.tsx'

const here = getRouteApi('/frame/o/$organization/targets/$target')

export function TargetPage() {
  const { slug } = useOrganization()
  const { target: name } = here.useParams()
  const target = useQuery(targetQuery(slug, name))
  const back = (
    <Link to="/o/$organization/targets" params={{ organization: slug }}>
      {w.back}
    </Link>
  )
  if (target.data !== undefined) return <Shown key={target.data.id} it={target.data} back={back} />
  return (
    <>
      <PageHead title={name} back={back} />
      <QueryState query={target} />
    </>
  )
}

function Shown({ it, back }: { readonly it: Target; readonly back: ReactNode }) {
  const { slug, may } = useOrganization()
  const managed = useManaged('targets', it.id)
  const address = `${window.location.origin}/api/v1/intercept/${it.slug}/`
  return (
    <>
      <PageHead
        back={back}
        title={it.slug}
        lead={
          <span className="row">
            <code>{it.upstream}</code>
            <TargetState target={it} />
            <ManagedTag by={managed} />
          </span>
        }
      >
        {may('targets.manage') ? (
          <TargetActions organization={slug} it={it} locked={managed !== undefined} />
        ) : undefined}
      </PageHead>
      <Pile>
        <ManagedNotice by={managed} />
        <Facts
          facts={[[w.callAddress, <CopyText key="address" text={address} what={w.callAddress} />]]}
        />
        <Parts it={it} editable={may('targets.manage') && managed === undefined} />
      </Pile>
    </>
  )
}

interface PartProps {
  readonly it: Target
  readonly editable: boolean
}

function Parts({ it, editable }: PartProps) {
  const { slug } = useOrganization()
  const search = here.useSearch()
  const navigate = here.useNavigate()
  const content = {
    rules: <RulesBesideTry it={it} editable={editable} />,
    traffic: <Traffic it={it} />,
    limits: <Limits organization={slug} it={it} editable={editable} />,
    upstream: <Upstream organization={slug} it={it} editable={editable} />,
    capture: <Capture organization={slug} it={it} editable={editable} />,
  }
  return (
    <Tabs
      label={it.slug}
      value={search.tab ?? 'rules'}
      onValue={(tab) =>
        void navigate({
          search: (before) => ({ ...before, tab: tab === 'rules' ? undefined : tab }),
          replace: true,
        })
      }
      tabs={(['rules', 'traffic', 'limits', 'upstream', 'capture'] as const).map((id) => ({
        id,
        label: w.tabs[id],
        content: content[id],
      }))}
    />
  )
}

function RulesBesideTry({ it, editable }: PartProps) {
  const { slug } = useOrganization()
  const search = here.useSearch()
  const [decided, setDecided] = useState<string>()
  const [unsaved, setUnsaved] = useState(false)
  const onUnsaved = useCallback((next: boolean) => setUnsaved(next), [])
  return (
    <div className={classes.beside}>
      <Rules
        organization={slug}
        target={it}
        editable={editable}
        decided={decided}
        onUnsaved={onUnsaved}
      />
      <TryRequest
        organization={slug}
        target={it}
        start={search}
        unsaved={unsaved}
        onDecided={setDecided}
      />
    </div>
  )
}

function Traffic({ it }: { readonly it: Target }) {
  const { slug } = useOrganization()
  const search = here.useSearch()
  const navigate = here.useNavigate()
  return (
    <Pile>
      <HealthStrip organization={slug} target={it.slug} />
      <TrafficPanel
        organization={slug}
        filter={{ target: it.slug }}
        range={{ range: search.range, from: search.from, to: search.to }}
        onRange={(range) =>
          void navigate({ search: (past) => ({ ...past, ...range }), resetScroll: false })
        }
      />
    </Pile>
  )
}

interface ActionProps {
  readonly organization: string
  readonly it: Target
  readonly locked: boolean
}

function TargetActions({ organization, it, locked }: ActionProps) {
  const client = useQueryClient()
  const path = { organization, target: it.slug }
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      call('PATCH /organizations/:organization/targets/:target', { path, body: { enabled } }),
    onError: sayRefused,
    onSuccess: (_, enabled) => {
      void client.invalidateQueries({ queryKey: [organization, 'targets'] })
      say(enabled ? w.enabledDone(it.slug) : w.disabledDone(it.slug), {
        undo: () => turn.mutate(!enabled),
      })
    },
  })
  return (
    <>
      <Button busy={turn.isPending} disabled={locked} onClick={() => turn.mutate(!it.enabled)}>
        {it.enabled ? w.disable : w.enable}
      </Button>
      <RemoveTarget organization={organization} it={it} locked={locked} />
    </>
  )
}

function RemoveTarget({ organization, it, locked }: ActionProps) {
  const client = useQueryClient()
  const navigate = here.useNavigate()
  const [asking, setAsking] = useState(false)
  const path = { organization, target: it.slug }
  const remove = useMutation({
    mutationFn: () => call('DELETE /organizations/:organization/targets/:target', { path }),
    onSuccess: async () => {
      say(w.removed)
      await navigate({ to: '/o/$organization/targets', params: { organization } })
      await client.invalidateQueries({ queryKey: [organization] })
    },
  })
  return (
    <>
      <Button look="danger" disabled={locked} onClick={() => setAsking(true)}>
        {w.remove}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.removeTitle(it.slug)}
        action={w.remove}
        typed={it.slug}
        saving={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>{w.removeText}</p>
      </ConfirmDialog>
    </>
  )
}
