// Stand-in until the server's route table holds these; then the types come from it.

export type EndpointState = 'active' | 'held' | 'disabled'
export type DeliveryState = 'pending' | 'held' | 'delivered' | 'dead' | 'skipped'

export interface DeliveryCounts {
  readonly committed: number
  readonly delivered: number
  readonly dead: number
  readonly pending: number
  readonly held: number
  readonly skipped: number
}

export interface Endpoint {
  readonly id: string
  readonly url: string
  readonly description: string
  /** Undefined means every type. */
  readonly types?: readonly string[]
  readonly headerNames: readonly string[]
  readonly ratePerSecond?: number
  readonly ordered: boolean
  readonly publicKey?: string
  readonly createdAt: number
  readonly version: number
  readonly state: EndpointState
  readonly disabledReason?: string
  readonly failures: number
  readonly failingSince?: number
  readonly lastSuccessAt?: number
  readonly lastAttemptAt?: number
  readonly heldAt?: number
  readonly probeAt?: number
  readonly deliveries: DeliveryCounts
}

export interface Delivery {
  readonly id: string
  readonly endpointId: string
  readonly eventId: string
  readonly eventSequence: number
  readonly type: string
  readonly state: DeliveryState
  readonly dueAt?: number
  readonly attempts: number
  readonly attemptsEver: number
  readonly createdAt: number
  readonly completedAt?: number
  readonly lastAttemptAt?: number
  readonly lastStatus?: number
  readonly lastFailure?: string
  readonly skippedReason?: string
}

export interface Attempt {
  readonly id: string
  readonly number: number
  readonly probe: boolean
  readonly startedAt: number
  readonly durationMs: number
  readonly status?: number
  readonly failure?: string
  readonly answer?: string
  readonly answerTruncated: boolean
}

export interface EventType {
  readonly type: string
  readonly sentence: string
  readonly schema: unknown
  readonly sample: unknown
}

export interface WebhookSecret {
  readonly secret: string
  readonly createdAt: number
}

export interface OldSecret {
  readonly hint: string
  readonly createdAt: number
  readonly validUntil: number
}

export type OperationState = 'running' | 'paused' | 'cancelled' | 'done' | 'failed'

export interface Operation {
  readonly id: string
  readonly kind: string
  readonly state: OperationState
  readonly parameters: Readonly<Record<string, unknown>>
  readonly total: number
  readonly done: number
  readonly error?: string
  readonly createdAt: number
  readonly createdByName?: string
  readonly updatedAt: number
  readonly finishedAt?: number
}

export interface DeliveryFilter {
  readonly endpoint?: string | undefined
  readonly state?: string | undefined
  readonly type?: string | undefined
  readonly event?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface EndpointWish {
  readonly url: string
  readonly description?: string
  readonly types?: readonly string[] | null
  readonly headers?: Readonly<Record<string, string>>
  readonly ratePerSecond?: number | null
  readonly ordered?: boolean
}

interface Page {
  readonly cursor?: string
  readonly limit?: number
}
interface Next {
  readonly next?: string
}

type O = '/organizations/:organization'
type E = `${O}/webhooks/endpoints`
type D = `${O}/webhooks/deliveries`

export type WebhookRoutes = {
  readonly [R in `GET ${E}`]: { readonly answer: { readonly endpoints: readonly Endpoint[] } }
} & { readonly [R in `POST ${E}`]: { readonly body: EndpointWish; readonly answer: Endpoint } } & {
  readonly [R in `GET ${E}/:endpoint`]: { readonly answer: Endpoint }
} & {
  readonly [R in `PATCH ${E}/:endpoint`]: {
    readonly body: Partial<EndpointWish>
    readonly answer: Endpoint
  }
} & {
  readonly [R in `POST ${E}/:endpoint/enable` | `POST ${E}/:endpoint/disable`]: {
    readonly answer: Endpoint
  }
} & { readonly [R in `POST ${E}/:endpoint/ping`]: { readonly answer: { readonly id: string } } } & {
  readonly [R in `DELETE ${E}/:endpoint`]: object
} & {
  readonly [R in `GET ${D}`]: {
    readonly query: Page & DeliveryFilter
    readonly answer: Next & { readonly deliveries: readonly Delivery[] }
  }
} & {
  readonly [R in `GET ${D}/:delivery`]: {
    readonly answer: Delivery & { readonly body: string; readonly attemptList: readonly Attempt[] }
  }
} & { readonly [R in `POST ${D}/:delivery/replay`]: { readonly answer: Delivery } } & {
  readonly [R in `POST ${O}/webhooks/replays/count`]: {
    readonly body: DeliveryFilter
    readonly answer: { readonly deliveries: number }
  }
} & {
  readonly [R in `POST ${O}/webhooks/replays`]: {
    readonly body: DeliveryFilter
    readonly answer: Operation
  }
} & {
  readonly [R in `GET ${O}/webhooks/types`]: {
    readonly answer: { readonly types: readonly EventType[] }
  }
} & {
  readonly [R in `POST ${E}/:endpoint/sample`]: {
    readonly body: { readonly type: string }
    readonly answer: { readonly id: string }
  }
} & {
  readonly [R in `GET ${O}/webhooks/secret`]: {
    readonly answer: { readonly current: WebhookSecret; readonly old: readonly OldSecret[] }
  }
} & {
  readonly [R in `POST ${O}/webhooks/secret/rotate`]: {
    readonly body: { readonly overlapSeconds: number }
    readonly answer: { readonly current: WebhookSecret; readonly old: readonly OldSecret[] }
  }
} & {
  readonly [R in `GET ${O}/operations`]: {
    readonly query: Page
    readonly answer: Next & { readonly operations: readonly Operation[] }
  }
} & { readonly [R in `GET ${O}/operations/:operation`]: { readonly answer: Operation } } & {
  readonly [
    R in
      | `POST ${O}/operations/:operation/pause`
      | `POST ${O}/operations/:operation/resume`
      | `POST ${O}/operations/:operation/cancel`
  ]: { readonly answer: Operation }
}
