import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import { ssoWords as w } from '../../../words/en/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Snippet } from '../../parts/Copy.tsx'
import { Empty, Loading } from '../../parts/States.tsx'
import { Card, PageHead } from '../../parts/Surface.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { Steps } from './Steps.tsx'
import { whole } from '../../parts/upgrade.ts'

const DomainsTab = lazy(async () => ({
  default: (await whole(async () => await import('./DomainsTab.tsx'))()).DomainsTab,
}))
const ConnectionTab = lazy(async () => ({
  default: (await whole(async () => await import('./ConnectionTab.tsx'))()).ConnectionTab,
}))
const DirectoryTab = lazy(async () => ({
  default: (await whole(async () => await import('./DirectoryTab.tsx'))()).DirectoryTab,
}))
const RolesTab = lazy(async () => ({
  default: (await whole(async () => await import('./RolesTab.tsx'))()).RolesTab,
}))

const here = getRouteApi('/frame/o/$organization/sso')

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
          {
            id: 'domains',
            label: w.tabs.domains,
            content: (
              <Later>
                <DomainsTab />
              </Later>
            ),
          },
          {
            id: 'connection',
            label: w.tabs.connection,
            content: (
              <Later>
                <ConnectionTab />
              </Later>
            ),
          },
          {
            id: 'directory',
            label: w.tabs.directory,
            content: (
              <Later>
                <DirectoryTab />
              </Later>
            ),
          },
          {
            id: 'roles',
            label: w.tabs.roles,
            content: (
              <Later>
                <RolesTab />
              </Later>
            ),
          },
        ]}
      />
    </>
  )
}

function Later({ children }: { readonly children: ReactNode }) {
  return <Suspense fallback={<Loading />}>{children}</Suspense>
}
