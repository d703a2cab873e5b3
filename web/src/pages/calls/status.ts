import type { Outcome } from '../../api/calls.ts'
import type { Call } from '../../api/shapes.ts'
import classes from './calls.module.css'

type Ended = Pick<Call, 'status' | 'stopped_at'>

/** As in the API, a call whose caller left before the response counts as answered. */
export function outcomeOf({ status, stopped_at: stoppedAt }: Ended): Outcome {
  if (stoppedAt === 'forward' || (stoppedAt === undefined && status >= 500)) return 'upstream_error'
  return stoppedAt === undefined ? 'answered' : 'refused'
}

/** The style of a status: red if one of our checks refused the call, ochre for any other error, otherwise plain. */
export function statusClass(call: Ended): string {
  if (outcomeOf(call) === 'refused') return classes.refused ?? ''
  return (call.status >= 400 ? classes.odd : undefined) ?? ''
}
