// Stand-in until the server's route table is here; then this file only re-exports its type.
import type { Station } from '../parts/Line.tsx'
import type { Call, Key, Organization, Role, Rule, Target } from './shapes.ts'

interface Page {
  readonly cursor?: string
  readonly limit?: string
}
interface Next {
  readonly next: string | null
}

export interface Routes {
  'GET /me': {
    answer: {
      readonly user: { readonly id: string; readonly name: string; readonly email: string }
      readonly session: {
        readonly id: string
        readonly signedInAt: number
        readonly expiresAt: number
      }
      readonly memberships: readonly {
        readonly id: string
        readonly role: Role
        readonly organization: Organization
      }[]
    }
  }
  'POST /auth/logout': object
  'GET /organizations/:organization/keys': {
    query: Page & { readonly state?: string; readonly q?: string; readonly sort?: string }
    answer: Next & { readonly keys: readonly Key[] }
  }
  'GET /organizations/:organization/targets': {
    query: Page & { readonly q?: string }
    answer: Next & { readonly targets: readonly Target[] }
  }
  'GET /organizations/:organization/targets/:target': {
    answer: Target & { readonly rules: readonly Rule[] }
  }
  'GET /organizations/:organization/webhooks/endpoints': {
    answer: { readonly endpoints: readonly { readonly id: string; readonly url: string }[] }
  }
  'GET /organizations/:organization/calls': {
    query: Page & { readonly stopped_at?: string }
    answer: Next & { readonly calls: readonly Call[] }
  }
  'GET /organizations/:organization/overview': {
    answer: {
      readonly refused: Readonly<Partial<Record<Station, number>>>
      readonly answered: number
    }
  }
}
