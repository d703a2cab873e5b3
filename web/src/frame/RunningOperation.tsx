import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { operationWords as w } from '../../words/en/operations.ts'
import { operationsQuery } from '../api/operations.ts'
import { Lamp } from '../parts/Button.tsx'
import { percent } from '../parts/numbers.ts'
import { useQuiet } from '../parts/useQuiet.ts'
import classes from './frame.module.css'
import { useOrganization } from './membership.ts'

/** The newest unfinished operation, shown in the navigation. */
export function RunningOperation() {
  const { slug } = useOrganization()
  const isQuiet = useQuiet()
  const found = useQuery({ ...operationsQuery(slug), enabled: isQuiet })
  const operations = found.data?.items ?? []
  const open = operations.find((one) => one.state === 'running' || one.state === 'paused')
  if (open === undefined) return undefined
  const kind = w.kinds[open.kind] ?? w.other
  return (
    <Link
      to="/o/$organization/operations/$operation"
      params={{ organization: slug, operation: open.id }}
      className={classes.navLink}
    >
      <Lamp on={open.state === 'running'} />
      {open.state === 'running'
        ? w.navigation(kind, percent(open.done, open.total))
        : w.pausedNavigation(kind)}
    </Link>
  )
}
