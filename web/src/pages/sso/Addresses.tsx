import { ssoWords } from '../../../words/en/sso.ts'
import { CopyText } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Surface.tsx'

const w = ssoWords.connection

/** Our addresses that a provider must know, each to be copied. */
export function Addresses({
  of,
  withKeys,
}: {
  readonly of: {
    readonly redirectUri: string
    readonly initiateLoginUri: string
    readonly backchannelLogoutUri: string
    readonly clientKeysUri: string
  }
  readonly withKeys: boolean
}) {
  return (
    <Facts
      facts={[
        [w.redirect, <CopyText key="redirect" text={of.redirectUri} what={w.redirect} />],
        [w.initiate, <CopyText key="initiate" text={of.initiateLoginUri} what={w.initiate} />],
        [w.logout, <CopyText key="logout" text={of.backchannelLogoutUri} what={w.logout} />],
        [
          w.keys,
          withKeys ? <CopyText key="keys" text={of.clientKeysUri} what={w.keys} /> : undefined,
        ],
      ]}
    />
  )
}
