import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { targetQuery } from '../../api/targets.ts'
import type { Call } from '../../api/shapes.ts'
import { callsWords as w } from '../../../words/en/calls.ts'

/** Looks the rule up, because the call's record contains only the rule's id. */
export function DecidingRule({
  organization,
  call,
}: {
  readonly organization: string
  readonly call: Call
}) {
  const { target = '', rule_id: id } = call
  const found = useQuery({ ...targetQuery(organization, target), enabled: id !== undefined })
  if (id === undefined) return <p>{w.rule.lastLine}</p>
  if (found.data === undefined) return undefined
  const { rules } = found.data
  const index = rules.findIndex((rule) => rule.id === id)
  const rule = rules[index]
  if (rule === undefined) return <p>{w.rule.gone}</p>
  const methods = rule.methods.join(', ')
  return (
    <p>
      <Link to="/o/$organization/targets/$target" params={{ organization, target }}>
        {w.rule.said({
          number: index + 1,
          denies: rule.effect === 'deny',
          methods,
          path: rule.path,
        })}
      </Link>
    </p>
  )
}
