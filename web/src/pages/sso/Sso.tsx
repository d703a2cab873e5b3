import { getRouteApi } from '@tanstack/react-router'
import { ssoWords as w } from '../../../words/en/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Snippet } from '../../parts/Copy.tsx'
import { Empty } from '../../parts/States.tsx'
import { Card, PageHead } from '../../parts/Surface.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { ConnectionTab } from './ConnectionTab.tsx'
import { DirectoryTab } from './DirectoryTab.tsx'
import { DomainsTab } from './DomainsTab.tsx'
import { RolesTab } from './RolesTab.tsx'
import { Steps } from './Steps.tsx'

const here = getRouteApi('/frame/o/$organization/sso')

/** Connect the company: domains, connection, test, directory, roles. */
export function Sso() {
  const { slug, membership } = useOrganization()
  return (
    <>
      <PageHead title={w.title} lead={w.lead} />
      {membership.plan === 'enterprise' ? (
        <Enterprise />
      ) : (
        <Card>
          <Empty title={w.planTitle}>
            <p>{w.planText}</p>
            <Snippet text={w.planCommand(slug)} label={w.planCommandName} />
          </Empty>
        </Card>
      )}
    </>
  )
}

function Enterprise() {
  const { tab } = here.useSearch()
  const navigate = here.useNavigate()
  return (
    <>
      <Steps />
      <Tabs
        label={w.title}
        value={tab ?? 'domains'}
        onValue={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          { id: 'domains', label: w.tabs.domains, content: <DomainsTab /> },
          { id: 'connection', label: w.tabs.connection, content: <ConnectionTab /> },
          { id: 'directory', label: w.tabs.directory, content: <DirectoryTab /> },
          { id: 'roles', label: w.tabs.roles, content: <RolesTab /> },
        ]}
      />
    </>
  )
}
