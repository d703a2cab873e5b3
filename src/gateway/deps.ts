import type { KeyCache, Scheme, SharedRates, SigningKeys } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import type { ClientAddresses, Upstreams } from '../http/index.ts'
import type { Rate } from '../rate.ts'
import type { RecordChoice } from '../record-choice.ts'
import type { Store } from '../store/index.ts'
import type { Limits, Quotas, TargetCache } from '../targets/index.ts'
import type { AccessLog, LogRecord, LossySender, Metrics, Tracer } from '../telemetry/index.ts'

export interface GatewayDeps {
  readonly store: Store
  /** The store's clock. */
  readonly clock: Clock
  readonly log: {
    error(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
  /** The log for work that talks only to the database; defaults to `log`. */
  readonly storeLog?: GatewayDeps['log'] | undefined
  /** Counts a refusal caused by a database outage. Each outage is logged once, rather than once per refused call. */
  readonly refusedByStorage: (cause: unknown) => void
  readonly metrics: Metrics
  /** Receives spans, if traces are exported. */
  readonly tracer: Pick<Tracer, 'add' | 'place' | 'spanId'> | undefined
  /** Receives a line per call, if there is an access log. */
  readonly accessLog: Pick<AccessLog, 'add'> | undefined
  /** Receives the record of every call, if call records are exported. */
  readonly callLog: Pick<LossySender<LogRecord>, 'add'> | undefined
  readonly keyCache: KeyCache
  readonly signingKeys: SigningKeys
  readonly targetCache: TargetCache
  readonly limits: Limits
  readonly quotas: Quotas
  readonly upstreams: Upstreams
  readonly addresses: ClientAddresses
  readonly enabledSchemes: readonly Scheme[]
  /** Failed credentials allowed per source; undefined means no limit. */
  readonly failedCredentials: Rate | undefined
  readonly rates: SharedRates
  /** Which calls to record, unless their target has a choice of its own. */
  readonly callRecords: RecordChoice
  /** How many targets get their own series in the metrics. */
  readonly metricsTargets: number
  readonly baseUrl: string
  readonly authUrl: string
}
