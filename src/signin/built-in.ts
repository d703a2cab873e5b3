import type { Outbound } from '../http/index.ts'
import type { RelyingParty } from '../oidc/index.ts'
import { Github } from './github.ts'
import { createGoogle } from './google.ts'
import type { SignInProvider } from './provider.ts'

interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Opens the built-in providers that the operator has configured. */
export function openProviders(
  settings: {
    readonly github: (Credentials & { readonly url: string; readonly apiUrl: string }) | undefined
    readonly google: (Credentials & { readonly issuer: string }) | undefined
  },
  deps: { readonly outbound: Outbound; readonly relyingParty: RelyingParty },
): readonly SignInProvider[] {
  const { github, google } = settings
  return [
    ...(github ? [new Github({ ...github, outbound: deps.outbound })] : []),
    ...(google ? [createGoogle({ ...google, relyingParty: deps.relyingParty })] : []),
  ]
}
