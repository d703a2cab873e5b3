import type { AccessTokens, FailedCredentials, Keys, Sessions } from '../../access/index.ts'
import type { Audit, Denials } from '../../audit/index.ts'
import type { Traffic } from '../../calls/index.ts'
import type { Clock } from '../../clock.ts'
import type { Configurations } from '../../configuration/index.ts'
import type { Directories } from '../../directory/index.ts'
import type {
  Invitations,
  Links,
  Members,
  Organizations,
  People,
} from '../../organizations/index.ts'
import type { Sso } from '../../sso/index.ts'
import type { Echo, Outbound } from '../../http/index.ts'
import type { Sealer } from '../../secrets/index.ts'
import type { Store } from '../../store/index.ts'
import type { Limits, TargetCache, Targets } from '../../targets/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'

/** The services that the JSON API's handlers use. */
export interface Services {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly baseUrl: string
  /** The maximum nesting depth of a JSON body. */
  readonly jsonDepth: number
  readonly sessions: Sessions
  readonly keys: Keys
  readonly accessTokens: AccessTokens
  readonly configurations: Configurations
  readonly organizations: Organizations
  readonly people: People
  readonly members: Members
  readonly invitations: Invitations
  readonly links: Links
  readonly sso: Sso
  readonly directories: Directories
  /** The maximum number of active SCIM tokens per organization. */
  readonly maxScimTokens: number
  readonly audit: Audit
  readonly denials: Denials
  /** Aborted when the node stops, which ends streams. */
  readonly stopping: AbortSignal
  readonly webhooks: Webhooks
  readonly targets: Targets
  readonly targetCache: TargetCache
  readonly limits: Limits
  readonly traffic: Traffic
  readonly outbound: Outbound
  /** The built-in upstream. */
  readonly echo: Echo
  /** With `open`, anyone may create an account and an organization. */
  readonly signUp: 'invited' | 'open'
  /** Limits the wrong access tokens that a source sends and the leaked secrets that it reports, counted together. */
  readonly findings: FailedCredentials
  readonly retention: {
    readonly callsMs: number
    readonly deliveriesMs: number
    readonly auditMs: number
  }
  /** The names of the built-in providers that the operator has configured, such as `github`. */
  readonly providers: readonly string[]
}
