import { ssoWords } from '../../../words/en/sso.ts'
import { CopyText } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Surface.tsx'

const w = ssoWords.connection

/** Our URLs that have to be registered at a provider. */
export function Addresses({
  of,
  withKeys,
}: {
  readonly of: {
    readonly redirect_uri: string
    readonly initiate_login_uri: string
    readonly backchannel_logout_uri: string
    readonly client_keys_uri: string
  }
  readonly withKeys: boolean
}) {
  return (
    <Facts
      facts={[
        [w.redirect, <CopyText key="redirect" text={of.redirect_uri} what={w.redirect} />],
        [w.initiate, <CopyText key="initiate" text={of.initiate_login_uri} what={w.initiate} />],
        [w.logout, <CopyText key="logout" text={of.backchannel_logout_uri} what={w.logout} />],
        [
          w.keys,
          withKeys ? <CopyText key="keys" text={of.client_keys_uri} what={w.keys} /> : undefined,
        ],
      ]}
    />
  )
}
