/** What workers and the supervisor tell each other about the port that the workers share. */
import type { AddressInfo, TakerReport } from '../../http/index.ts'

export type FromWorker =
  | { readonly kind: 'intercept:listen'; readonly host: string; readonly port: number }
  | ({ readonly kind: 'intercept:open' } & TakerReport)
  | { readonly kind: 'intercept:stop' }

export type FromSupervisor =
  | { readonly kind: 'intercept:listening'; readonly address: AddressInfo }
  | { readonly kind: 'intercept:not-listening'; readonly error: ListenError }
  /** Comes with the connection's socket; without one if the connection has already closed. */
  | { readonly kind: 'intercept:connection'; readonly number: number }
  | { readonly kind: 'intercept:stopped' }

/** What the error of a listener says to people; an `Error` would lose it on its way to another process. */
export interface ListenError {
  readonly message: string
  readonly code?: string | undefined
  readonly syscall?: string | undefined
  readonly address?: string | undefined
  readonly port?: number | undefined
  readonly hostname?: string | undefined
}
