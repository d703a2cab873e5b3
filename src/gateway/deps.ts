import type { KeyCache, Scheme, SharedRates, SigningKeys } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { ClientAddresses, Upstreams } from '../http/index.ts'
import type { Rate } from '../rate.ts'
import type { RecordChoice } from '../record-choice.ts'
import type { Store } from '../store/index.ts'
import type { Limits, Quotas, TargetCache } from '../targets/index.ts'
import type { AccessLog, LogRecord, LossySender, Metrics, Tracer } from '../telemetry/index.ts'

/** What the guarded area needs of the rest. */
export interface GatewayDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: {
    error(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
  /** The log for work that talks to the database only; without one, the log. */
  readonly storeLog?: GatewayDeps['log'] | undefined
  /** Counts a refusal that the database's absence caused: an outage is said once, not call by call. */
  readonly refusedByStorage: (cause: unknown) => void
  readonly metrics: Metrics
  /** Where spans go, if anywhere. */
  readonly tracer: Pick<Tracer, 'add' | 'place' | 'spanId'> | undefined
  /** Where a line for each call goes, if anywhere. */
  readonly accessLog: Pick<AccessLog, 'add'> | undefined
  /** Where call records go besides, if anywhere. */
  readonly callLog: Pick<LossySender<LogRecord>, 'add'> | undefined
  readonly keyCache: KeyCache
  readonly signingKeys: SigningKeys
  readonly targetCache: TargetCache
  readonly limits: Limits
  readonly quotas: Quotas
  readonly upstreams: Upstreams
  readonly addresses: ClientAddresses
  readonly enabledSchemes: readonly Scheme[]
  /** Failed credentials that a source may send; undefined = any number. */
  readonly failedCredentials: Rate | undefined
  readonly rates: SharedRates
  /** Which calls leave a record where no target says so. */
  readonly callRecords: RecordChoice
  /** How many targets have series of their own in the metrics. */
  readonly metricsTargets: number
  readonly baseUrl: string
  readonly authUrl: string
}
