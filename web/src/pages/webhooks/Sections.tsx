import { Link } from '@tanstack/react-router'
import { webhookWords as w } from '../../../words/en/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import classes from '../../parts/surface.module.css'

export function Sections() {
  const { slug, may } = useOrganization()
  const params = { organization: slug }
  return (
    <nav className={classes.tabs} aria-label={w.sections.label}>
      <Link
        to="/o/$organization/webhooks"
        params={params}
        className={classes.tab}
        activeOptions={{ exact: true, includeSearch: false }}
      >
        {w.sections.endpoints}
      </Link>
      <Link
        to="/o/$organization/webhooks/deliveries"
        params={params}
        className={classes.tab}
        activeOptions={{ includeSearch: false }}
      >
        {w.sections.deliveries}
      </Link>
      <Link
        to="/o/$organization/webhooks/types"
        params={params}
        className={classes.tab}
        activeOptions={{ includeSearch: false }}
      >
        {w.sections.types}
      </Link>
      {may('webhooks.manage') ? (
        <Link to="/o/$organization/webhooks/secret" params={params} className={classes.tab}>
          {w.sections.secret}
        </Link>
      ) : undefined}
    </nav>
  )
}
