import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { callQuery } from '../../api/calls.ts'
import type { Call } from '../../api/shapes.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { useSingleKeys } from '../../frame/shortcuts.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { Drawer } from '../../parts/Dialogs.tsx'
import { Captured } from './Captured.tsx'
import { DecidingRule } from './DecidingRule.tsx'
import { outcomeOf } from './status.ts'
import { FullLine } from '../../parts/Line.tsx'
import { duration, size } from '../../parts/numbers.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Facts, Notice } from '../../parts/Surface.tsx'
import { exact } from '../../parts/Time.tsx'

export function CallDrawer({
  organization,
  id,
  calls,
  onTurn,
  onClose,
}: {
  readonly organization: string
  readonly id: string
  readonly calls: readonly Call[]
  readonly onTurn: (id: string) => void
  readonly onClose: () => void
}) {
  const place = calls.findIndex((one) => one.id === id)
  const known = calls[place]
  const read = useQuery({ ...callQuery(organization, id), enabled: known === undefined })
  const call = known ?? read.data
  const newer = place > 0 ? calls[place - 1]?.id : undefined
  const older = place === -1 ? undefined : calls[place + 1]?.id
  useTurning(newer, older, onTurn)
  return (
    <Drawer
      open
      onClose={onClose}
      title={
        call === undefined ? (
          <code>{id}</code>
        ) : (
          <span className="mono">{`${call.method} ${call.path}`}</span>
        )
      }
      actions={
        <>
          <Turn label={w.previous} icon="up" to={newer} onTurn={onTurn} />
          <Turn label={w.next} icon="down" to={older} onTurn={onTurn} />
        </>
      }
    >
      {call === undefined ? (
        read.isError ? (
          <ProblemNotice error={read.error} title={w.gone} />
        ) : (
          <Loading />
        )
      ) : (
        <Details organization={organization} call={call} />
      )}
    </Drawer>
  )
}

function Turn({
  label,
  icon,
  to,
  onTurn,
}: {
  readonly label: string
  readonly icon: 'up' | 'down'
  readonly to: string | undefined
  readonly onTurn: (id: string) => void
}) {
  return (
    <Button
      look="quiet"
      icon={icon}
      aria-label={label}
      disabled={to === undefined}
      onClick={() => to !== undefined && onTurn(to)}
    />
  )
}

/**
 * Shows the next older call on j and the next newer one on k, wherever the focus is except in form fields. Does nothing
 * while single-key shortcuts are turned off.
 */
function useTurning(
  newer: string | undefined,
  older: string | undefined,
  onTurn: (id: string) => void,
): void {
  const [singleKeys] = useSingleKeys()
  useEffect(() => {
    if (!singleKeys) return undefined
    function turn(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.matches('input, textarea, select')) return
      const to = { j: older, k: newer }[event.key]
      if (to === undefined) return
      event.preventDefault()
      event.stopPropagation()
      onTurn(to)
    }
    // The capture phase precedes the handlers of the table behind the drawer, which would move the table's focus.
    document.addEventListener('keydown', turn, true)
    return () => document.removeEventListener('keydown', turn, true)
  }, [singleKeys, newer, older, onTurn])
}

interface DetailProps {
  readonly organization: string
  readonly call: Call
}

function Details({ organization, call }: DetailProps) {
  return (
    <div className="stack">
      <FullLine stoppedAt={call.stopped_at} />
      <Outcome organization={organization} call={call} />
      <Facts facts={[...who({ organization, call }), ...measures(call)]} />
      <div className="row">
        {call.target === undefined ? undefined : (
          <ButtonLink
            to="/o/$organization/targets/$target"
            params={{ organization, target: call.target }}
            search={{
              method: call.method,
              path: call.path,
              address: call.address,
              ...(call.key_id === undefined ? {} : { key: call.key_id }),
            }}
          >
            {w.tryAgain}
          </ButtonLink>
        )}
        <ButtonLink to="/o/$organization/calls" params={{ organization }} search={likeThis(call)}>
          {w.like}
        </ButtonLink>
      </div>
      {call.capture === undefined ? (
        <p className="muted small">{w.notKept}</p>
      ) : (
        <Captured capture={call.capture} />
      )}
    </div>
  )
}

type FactList = Parameters<typeof Facts>[0]['facts']

function who({ organization, call }: DetailProps): FactList {
  const time = new Date(call.at).toISOString()
  return [
    [w.facts.id, <CopyText key="id" text={call.id} what={w.facts.id} />],
    [w.facts.time, <CopyText key="at" text={time} shown={exact(call.at)} what={w.facts.time} />],
    [
      w.facts.key,
      call.key_id === undefined ? (
        w.unknownKey
      ) : (
        <Link key="key" to="/o/$organization/keys/$key" params={{ organization, key: call.key_id }}>
          {call.key_name ?? call.key_id} <code>{call.key_hint}</code>
        </Link>
      ),
    ],
    [
      w.facts.target,
      call.target === undefined ? undefined : (
        <Link
          key="target"
          to="/o/$organization/targets/$target"
          params={{ organization, target: call.target }}
        >
          {call.target}
        </Link>
      ),
    ],
    [w.facts.rule, call.rule_id === undefined ? undefined : <code key="rule">{call.rule_id}</code>],
    [w.facts.status, <code key="status">{call.status}</code>],
    [w.facts.address, <code key="address">{call.address}</code>],
    [w.facts.agent, call.agent],
  ]
}

function measures(call: Call): FactList {
  const { duration_ms: took, upstream_ms: upstream } = call
  return [
    [w.facts.took, duration(took)],
    [w.facts.upstream, upstream === undefined ? undefined : duration(upstream)],
    [w.facts.checks, upstream === undefined ? undefined : duration(Math.max(0, took - upstream))],
    [w.facts.sent, size(call.request_bytes)],
    [w.facts.received, size(call.answer_bytes)],
  ]
}

function Outcome({ organization, call }: DetailProps) {
  if (call.code === undefined) {
    if (call.status === 0) return <Notice tone="caution" title={w.callerLeftTitle} />
    return (
      <Notice
        tone={outcomeOf(call) === 'answered' ? 'pass' : 'caution'}
        title={w.forwardedTitle(call.status)}
      />
    )
  }
  return (
    <Notice
      tone={outcomeOf(call) === 'refused' ? 'refuse' : 'caution'}
      title={call.stopped_at === 'forward' ? w.upstreamTitle(call.code) : w.refusedTitle(call.code)}
    >
      {call.stopped_at === 'rules' && call.target !== undefined ? (
        <DecidingRule organization={organization} call={call} />
      ) : undefined}
      <p>
        <a href={`/problems/${call.code}`} target="_blank" rel="noreferrer">
          {w.whatToDo}
        </a>
      </p>
    </Notice>
  )
}

function likeThis(call: Call) {
  return {
    ...(call.target === undefined ? {} : { target: call.target }),
    ...(call.stopped_at === undefined ? {} : { stopped_at: call.stopped_at }),
    method: call.method,
    path: call.path,
  }
}
