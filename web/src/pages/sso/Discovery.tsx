import { useQuery } from '@tanstack/react-query'
import { ssoWords } from '../../../words/en/sso.ts'
import { discoveryQuery } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { ProblemNotice } from '../../parts/States.tsx'
import { Facts, Notice } from '../../parts/Surface.tsx'
import { useSettled } from '../../parts/useSettled.ts'

const w = ssoWords.connection
const pauseMs = 600

export function Discovery({ issuer }: { readonly issuer: string }) {
  const { slug } = useOrganization()
  const settled = useSettled(issuer.trim(), pauseMs)
  const looks = /^https?:\/\/[^\s/?#]+[^\s?#]*$/.test(settled)
  const found = useQuery({ ...discoveryQuery(slug, settled), enabled: looks })
  if (settled === '') return undefined
  if (!looks) return <Notice tone="refuse" live title={w.issuerWrong} />
  if (found.isError) return <ProblemNotice error={found.error} />
  if (found.data === undefined) return <p className="muted">{w.discovering}</p>
  const {
    client_authentication: clientAuthentication,
    algorithms,
    userinfo_endpoint: userinfoEndpoint,
    backchannel_logout: backchannelLogout,
  } = found.data
  return (
    <Notice tone="pass" live title={w.discovered}>
      <Facts
        facts={[
          [w.discoveredFacts.issuer, <code key="issuer">{found.data.issuer}</code>],
          [w.discoveredFacts.authentication, clientAuthentication.join(', ')],
          [w.discoveredFacts.algorithms, algorithms.join(', ')],
          [w.discoveredFacts.userinfo, userinfoEndpoint === undefined ? w.no : w.yes],
          [w.discoveredFacts.logout, backchannelLogout ? w.yes : w.no],
        ]}
      />
    </Notice>
  )
}
