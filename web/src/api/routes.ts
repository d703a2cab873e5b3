import type { Routes as Landed } from '../../../src/dashboard/index.ts'
import type { DirectoryPending } from './directory-pending.ts'
import type { Attention, Call, FirstSteps, Rollup, Target, Tried } from './pending.ts'

type Page = { readonly after?: string; readonly limit?: number }
interface List<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}
interface All<Item> {
  readonly items: readonly Item[]
}

interface Pending {
  'POST /auth/logout': object
  'GET /organizations/:organization/targets': { answer: All<Target> }
  'POST /organizations/:organization/targets': {
    body: { readonly slug: string; readonly upstream: string }
    answer: Target
  }
  'GET /organizations/:organization/targets/:target': { answer: Target }
  'PATCH /organizations/:organization/targets/:target': {
    body: { readonly [name: string]: unknown }
    answer: Target
  }
  'DELETE /organizations/:organization/targets/:target': object
  'PUT /organizations/:organization/targets/:target/rules': {
    body: { readonly rules: readonly object[] }
    answer: Target
  }
  'POST /organizations/:organization/targets/:target/reach': {
    answer: { readonly status: number; readonly tookMs: number }
  }
  'POST /organizations/:organization/targets/:target/try': {
    body: {
      readonly keyId?: string
      readonly method: string
      readonly path: string
      readonly address?: string
    }
    answer: Tried
  }
  'GET /organizations/:organization/calls': {
    query: Page & {
      readonly [
        N in
          | 'q'
          | 'newer'
          | 'target'
          | 'key'
          | 'stopped_at'
          | 'status'
          | 'method'
          | 'path'
          | 'address'
          | 'from'
          | 'to'
      ]?: string
    }
    answer: List<Call>
  }
  'GET /organizations/:organization/calls/:call': { answer: Call }
  'GET /organizations/:organization/rollups': {
    query: {
      readonly from: string
      readonly to: string
      readonly stepMs: number
      readonly target?: string
      readonly key?: string
    }
    answer: Rollup
  }
  'GET /organizations/:organization/attention': { answer: All<Attention> }
  'GET /organizations/:organization/first-steps': { answer: FirstSteps }
}

/** Every route of the JSON API that the dashboard may call. */
export type Routes = Landed & Pending & DirectoryPending
