import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, EndpointRecord } from '../../store/index.ts'
import type { PreparedEndpoint, Send } from './send.ts'
import type { DeliveryWork } from './work.ts'

/** What varies. `after` calls back later and returns how to call it off. */
export interface DispatcherDeps {
  readonly work: DeliveryWork
  readonly send: Send
  /** Opens what is sealed; rejects if the endpoint cannot be sent to now. */
  readonly prepare: (endpoint: EndpointRecord) => Promise<PreparedEndpoint>
  readonly clock: Clock
  readonly random: () => number
  readonly after: (ms: number, call: () => void) => () => void
  /** Requests under way at once, over all endpoints. */
  readonly maxPlaces?: number | undefined
  /** What went wrong and will be tried again: for the log. */
  readonly onError: (error: unknown) => void
  /** For metrics: every attempt's end. */
  readonly onAttempt?: ((outcome: AttemptOutcome) => void) | undefined
}

/** Sends what is due. Everything it knows is in the store: it may die at any moment. */
export interface Dispatcher {
  start(): void
  /** Something was published in an organization (for these endpoints, if they are named), or is due again. */
  hint(organizationId: string, endpointIds?: readonly string[]): void
  /** An endpoint (or, without an id, all of an organization's) changed: what is in memory is stale. */
  forget(organizationId?: string, endpointId?: string): void
  /** Starts nothing more, waits for what is under way (up to `graceMs`, then cuts it), writes, gives the leases back. */
  stop(graceMs: number): Promise<void>
  readonly state: () => { lanes: number; sending: number; unwritten: number }
}
