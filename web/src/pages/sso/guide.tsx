import { guides } from '../../../words/en/sso-guides.ts'
import type { ConnectionKind } from '../../api/sso.ts'
import classes from './sso.module.css'

/** The steps at a provider, numbered, in its own words. */
export function Guide({
  kind,
  part,
}: {
  readonly kind: ConnectionKind
  readonly part: 'connection' | 'directory'
}) {
  return (
    <ol className={classes.guide}>
      {guides[kind][part].map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  )
}
