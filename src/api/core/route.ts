import type { Permission, Role, SignedIn } from '../../access/index.ts'
import type { SectionKey } from '../../configuration/index.ts'
import type { Static, TSchema } from '../../http/index.ts'
import type { OrganizationId } from '../../ids.ts'
import type { Actor } from '../../store/index.ts'
import type { Caller } from './caller.ts'
import type { Services } from './services.ts'

/**
 * Who may call a route: anybody, anybody signed in, an operator's access token, or members and access tokens of the
 * organization in its path with a permission.
 */
export type RouteAccess = 'anyone' | 'signed-in' | 'operator' | Permission

/** The organization in a route's path, as the caller may see it. */
export interface RouteOrganization {
  readonly id: OrganizationId
  readonly slug: string
  /** The person's role; undefined for an access token. */
  readonly role: Role | undefined
  /** What the access token may do; empty for a person, whose role says it. */
  readonly permissions: readonly Permission[]
}

/** What a handler gets: everything checked, typed values only. */
export interface RouteRequest<Query = unknown, Body = unknown> {
  readonly query: Query
  readonly body: Body
  /** A parameter of the path. */
  readonly param: (name: string) => string
  /** Who calls; throws where the route is open to anyone. */
  readonly caller: Caller
  /** The person who calls; `person_required` for a program. */
  readonly person: SignedIn
  /** The organization of the path; throws where there is none. */
  readonly organization: RouteOrganization
  /** Who acts, for audit entries and events. */
  readonly actor: Actor
  /** The version in If-Match: an edit of any other is refused with 412. */
  readonly expectedVersion: number | undefined
  readonly address: string
  readonly agent: string | undefined
  readonly requestId: string
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal
}

/** An answer with headers of its own, such as a cookie. */
export class Answered<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string | string[]>>

  constructor(body: Body, headers: Readonly<Record<string, string | string[]>>) {
    this.body = body
    this.headers = headers
  }
}

/** An answer that is not JSON, in parts: an export, a live stream. */
export class Streamed {
  readonly contentType: string
  readonly parts: AsyncIterable<string>
  readonly fileName: string | undefined

  constructor(contentType: string, parts: AsyncIterable<string>, fileName?: string) {
    this.contentType = contentType
    this.parts = parts
    this.fileName = fileName
  }
}

/** The thing that a route changes: its section in files, and the parameter of the path that names it. */
export interface ManagedThing {
  readonly section: SectionKey
  readonly param: string
}

/** One route of the JSON API: what it takes, who may, what it answers. */
export interface Route<Query = unknown, Body = unknown, Answer = unknown> {
  readonly summary: string
  readonly permission: RouteAccess
  /** The sign-in must be younger than an hour: secrets, SSO, SCIM, owners. */
  readonly freshSignIn: boolean
  /** Whether the route may be called from anywhere, without our origin: only where no cookie counts. */
  readonly anyOrigin: boolean
  readonly status: 200 | 201 | 202 | 204
  /**
   * Refuses what this person may not ask for now. Asked before every answer, also before one that an Idempotency-Key
   * gives again: what the person could have then, they may not have any more.
   */
  readonly check:
    | ((request: RouteRequest<Query, Body>, services: Services) => Promise<void>)
    | undefined
  /** What a file may own that this changes, and the parameter that names it: then it is locked here. */
  readonly managed: ManagedThing | undefined
  /** The largest body in bytes, where it is not the usual one. */
  readonly maxBodyBytes: number | undefined
  readonly query: TSchema | undefined
  readonly body: TSchema | undefined
  readonly answer: TSchema | undefined
  /** The content types of a streamed answer, for the description. */
  readonly streams: readonly string[]
  readonly handle: (
    request: RouteRequest<Query, Body>,
    services: Services,
  ) => Promise<Answer | Answered<Answer> | Streamed>
  /** For types only: never set. */
  readonly types?: { readonly query: Query; readonly body: Body; readonly answer: Answer }
}

/** A route whose own types nobody needs any more: its handler gets what its own schemas have let through. */
export type AnyRoute = Omit<Route<never, never>, 'types'>

/** The table of routes: `'METHOD /path/:parameter'` below /api/v1. */
export type RouteTable = Readonly<Record<string, AnyRoute>>

interface RouteRow<Query, Body, Answer> {
  readonly summary: string
  readonly permission: RouteAccess
  readonly freshSignIn?: boolean
  readonly anyOrigin?: boolean
  readonly status?: 200 | 201 | 202 | 204
  readonly check?: (
    request: RouteRequest<Typed<Query>, Typed<Body>>,
    services: Services,
  ) => Promise<void>
  readonly managed?: ManagedThing
  readonly maxBodyBytes?: number
  readonly query?: Query
  readonly body?: Body
  readonly answer?: Answer
  readonly streams?: readonly string[]
  readonly handle: (
    request: RouteRequest<Typed<Query>, Typed<Body>>,
    services: Services,
  ) => Promise<Typed<Answer> | Answered<Typed<Answer>> | Streamed>
}

/** A row of the table, typed by its schemas. */
export function route<Query = undefined, Body = undefined, Answer = undefined>(
  row: RouteRow<Query, Body, Answer>,
): Route<Typed<Query>, Typed<Body>, Typed<Answer>> {
  return {
    summary: row.summary,
    permission: row.permission,
    freshSignIn: row.freshSignIn ?? false,
    anyOrigin: row.anyOrigin ?? false,
    status: row.status ?? (row.answer || row.streams ? 200 : 204),
    check: row.check,
    managed: row.managed,
    maxBodyBytes: row.maxBodyBytes,
    query: row.query as TSchema | undefined,
    body: row.body as TSchema | undefined,
    answer: row.answer as TSchema | undefined,
    streams: row.streams ?? [],
    handle: row.handle,
  }
}

/** What the browser's client knows of a table: types only. */
export type RoutesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route<infer Query, infer Body, infer Answer>
    ? Part<'query', Query> & Part<'body', Frozen<Body>> & Part<'answer', Answer>
    : never
}

/** Bodies are only read, so what cannot be changed will do. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T
type Typed<Schema> = Schema extends TSchema ? Static<Schema> : undefined
type Part<Name extends string, Value> = [Value] extends [undefined]
  ? object
  : { readonly [N in Name]: Value }
