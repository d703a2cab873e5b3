import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { call } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { targetQuery } from '../../api/targets.ts'
import { targetsWords as w } from '../../../words/en/targets.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
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

/** How one API is guarded. */
export function TargetPage() {
  const { slug, may } = useOrganization()
  const { target: name } = here.useParams()
  const search = here.useSearch()
  const navigate = here.useNavigate()
  const target = useQuery(targetQuery(slug, name))
  const [decided, setDecided] = useState<string>()
  const [unsaved, setUnsaved] = useState(false)
  const onUnsaved = useCallback((next: boolean) => setUnsaved(next), [])
  const editable = may('targets.manage')
  const back = (
    <Link to="/o/$organization/targets" params={{ organization: slug }}>
      {w.back}
    </Link>
  )
  if (target.data === undefined) {
    return (
      <>
        <PageHead title={name} back={back} />
        {target.isError ? (
          <ProblemNotice error={target.error} retry={() => void target.refetch()} />
        ) : (
          <Loading />
        )}
      </>
    )
  }
  const it = target.data
  const rules = (
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
  return (
    <>
      <PageHead
        back={back}
        title={it.slug}
        lead={
          <span className="row">
            <code>{it.upstream}</code>
            <TargetState target={it} />
          </span>
        }
      >
        {editable ? <TargetActions organization={slug} it={it} /> : undefined}
      </PageHead>
      <Pile>
        <Facts
          facts={[
            [
              w.callAddress,
              <CopyText
                key="address"
                text={`${window.location.origin}/api/v1/intercept/${it.slug}/`}
                what={w.callAddress}
              />,
            ],
          ]}
        />
        <Tabs
          label={it.slug}
          value={search.tab ?? 'rules'}
          onValue={(tab) =>
            void navigate({
              search: (before) => ({ ...before, tab: tab === 'rules' ? undefined : tab }),
              replace: true,
            })
          }
          tabs={[
            { id: 'rules', label: w.tabs.rules, content: rules },
            {
              id: 'traffic',
              label: w.tabs.traffic,
              content: (
                <Pile>
                  <HealthStrip organization={slug} target={it.slug} />
                  <TrafficPanel
                    organization={slug}
                    filter={{ target: it.slug }}
                    range={{ range: search.range, from: search.from, to: search.to }}
                    onRange={(range) =>
                      void navigate({
                        search: (past) => ({ ...past, ...range }),
                        resetScroll: false,
                      })
                    }
                  />
                </Pile>
              ),
            },
            {
              id: 'limits',
              label: w.tabs.limits,
              content: <Limits organization={slug} it={it} editable={editable} />,
            },
            {
              id: 'upstream',
              label: w.tabs.upstream,
              content: <Upstream organization={slug} it={it} editable={editable} />,
            },
            {
              id: 'capture',
              label: w.tabs.capture,
              content: <Capture organization={slug} it={it} editable={editable} />,
            },
          ]}
        />
      </Pile>
    </>
  )
}

function TargetActions({
  organization,
  it,
}: {
  readonly organization: string
  readonly it: Target
}) {
  const client = useQueryClient()
  const navigate = here.useNavigate()
  const [asking, setAsking] = useState(false)
  const path = { organization, target: it.slug }
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      call('PATCH /organizations/:organization/targets/:target', { path, body: { enabled } }),
    onError: sayRefused,
    onSuccess: (_, enabled) => {
      void client.invalidateQueries({ queryKey: [organization, 'targets'] })
      if (enabled) say(w.enabledDone(it.slug))
      else say(w.disabledDone(it.slug), { undo: () => turn.mutate(true) })
    },
  })
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
      <Button busy={turn.isPending} onClick={() => turn.mutate(!it.enabled)}>
        {it.enabled ? w.disable : w.enable}
      </Button>
      <Button look="danger" onClick={() => setAsking(true)}>
        {w.remove}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.removeTitle(it.slug)}
        action={w.remove}
        typed={it.slug}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      >
        <p>{w.removeText}</p>
      </ConfirmDialog>
    </>
  )
}
