// Stand-in until the server's route table holds the directory's routes; then the types come from it.

type Role = 'admin' | 'developer' | 'viewer'

interface List<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

interface Token {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly lastUsedAddress: string | null
  readonly lastUsedAgent: string | null
  readonly revokedAt: string | null
}

interface DirectoryRequest {
  readonly id: string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Why it was refused, in a sentence. */
  readonly detail: string | null
  readonly durationMs: number
  readonly address: string | null
  readonly agent: string | null
}

interface DirectoryUser {
  /** The membership's id. */
  readonly id: string
  readonly userName: string
  readonly name: string | null
  readonly externalId: string | null
  readonly active: boolean
  readonly groups: readonly { readonly id: string; readonly name: string }[]
  readonly modifiedAt: string
}

interface DirectoryGroup {
  readonly id: string
  readonly name: string
  readonly externalId: string | null
  readonly role: Role | null
  readonly members: number
  readonly modifiedAt: string
}

interface Page {
  readonly after?: string
  readonly limit?: number
}
type RoleWish = { readonly role: Role | null }

export interface DirectoryPending {
  'GET /organizations/:organization/directory': {
    answer: {
      readonly baseAddress: string
      readonly isOn: boolean
      readonly users: number
      readonly groups: number
      readonly tokensAtMost: number
      readonly lastRequestAt: string | null
    }
  }
  'GET /organizations/:organization/directory/tokens': {
    answer: { readonly items: readonly Token[] }
  }
  'POST /organizations/:organization/directory/tokens': {
    body: { readonly name: string }
    answer: { readonly token: Token; readonly secret: string }
  }
  'POST /organizations/:organization/directory/tokens/:token/revoke': { answer: Token }
  'GET /organizations/:organization/directory/requests': {
    query: Page
    answer: List<DirectoryRequest>
  }
  'GET /organizations/:organization/directory/users': { query: Page; answer: List<DirectoryUser> }
  'GET /organizations/:organization/directory/groups': {
    query: Page
    answer: List<DirectoryGroup>
  }
  'PUT /organizations/:organization/directory/groups/:group/role': {
    body: RoleWish
    answer: { readonly group: DirectoryGroup; readonly changed: number }
  }
  /** Who would change if the group gave another role; nothing is changed. */
  'POST /organizations/:organization/directory/groups/:group/role/preview': {
    body: RoleWish
    answer: {
      readonly items: readonly {
        readonly membershipId: string
        readonly name: string
        readonly before: string
        readonly after: string
      }[]
    }
  }
}
