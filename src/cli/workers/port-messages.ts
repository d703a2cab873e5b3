/** What workers and the supervisor tell each other about the port that the workers share. */
import type { AddressInfo } from '../../http/index.ts'

export type FromWorker =
  | { readonly kind: 'intercept:listen'; readonly host: string; readonly port: number }
  /** So many of the connections that the worker was given have closed since it last said so. */
  | { readonly kind: 'intercept:closed'; readonly count: number }
  | { readonly kind: 'intercept:stop' }

export type FromSupervisor =
  | { readonly kind: 'intercept:listening'; readonly address: AddressInfo }
  | { readonly kind: 'intercept:not-listening'; readonly error: ListenError }
  /** Comes with the connection's socket; without one if the connection has already closed. */
  | { readonly kind: 'intercept:connection' }
  | { readonly kind: 'intercept:stopped' }

export interface ListenError {
  readonly message: string
  readonly code?: string | undefined
  readonly syscall?: string | undefined
  readonly address?: string | undefined
  readonly port?: number | undefined
}
