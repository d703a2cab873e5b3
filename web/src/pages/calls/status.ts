import type { Call } from '../../api/shapes.ts'
import classes from './calls.module.css'

/** The look of a status: refusals of ours are red, the upstream's own errors are ochre, the rest is plain. */
export function statusClass(call: Pick<Call, 'status' | 'stopped_at'>): string {
  if (call.stopped_at !== undefined) return classes.refused ?? ''
  return (call.status >= 400 ? classes.odd : undefined) ?? ''
}
