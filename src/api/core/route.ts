import type { Permission, Role, SignedIn } from '../../access/index.ts'
import type { SectionKey } from '../../configuration/index.ts'
import type { Static, TSchema } from '../../http/index.ts'
import type { OrganizationId } from '../../ids.ts'
import type { Actor } from '../../store/index.ts'
import type { Caller } from './caller.ts'
import type { Services } from './services.ts'

/**
 * Who may call a route: anyone, anyone signed in, an operator's access token, or members and access tokens that have a
 * permission in the organization of its path.
 */
export type RouteAccess = 'anyone' | 'signed-in' | 'operator' | Permission

/** The organization in a route's path, with the caller's rights in it. */
export interface RouteOrganization {
  readonly id: OrganizationId
  readonly slug: string
  /** The person's role; undefined for an access token. */
  readonly role: Role | undefined
  /** The access token's permissions; empty for a person, whose role determines them. */
  readonly permissions: readonly Permission[]
}

/** A handler's input, fully validated and typed. */
export interface RouteRequest<Query = unknown, Body = unknown> {
  readonly query: Query
  readonly body: Body
  readonly param: (name: string) => string
  /** The caller; throws if the route is open to anyone. */
  readonly caller: Caller
  /** The calling person; throws `person_required` for a program. */
  readonly person: SignedIn
  /** The organization of the path; throws if the path has none. */
  readonly organization: RouteOrganization
  readonly actor: Actor
  /** The version in If-Match; undefined allows every version. */
  readonly expectedVersion: number | undefined
  readonly address: string
  readonly agent: string | undefined
  readonly requestId: string
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
}

/** A response with additional headers, such as a cookie. */
export class Answered<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string | string[]>>

  constructor(body: Body, headers: Readonly<Record<string, string | string[]>>) {
    this.body = body
    this.headers = headers
  }
}

/** A response that is sent in pieces instead of as one JSON document: an export or a live stream. */
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

/** The thing that a route changes: its section in configuration files, and the path parameter that names it. */
export interface ManagedThing {
  readonly section: SectionKey
  readonly param: string
}

/** One route of the JSON API: its input, its permission and its response. */
export interface Route<Query = unknown, Body = unknown, Answer = unknown> {
  readonly summary: string
  readonly permission: RouteAccess
  /** Whether people must have signed in within the last hour; tokens always pass. */
  readonly freshSignIn: boolean
  /** Whether pages of other origins may call the route. Only a route that ignores cookies may allow this. */
  readonly anyOrigin: boolean
  readonly status: 200 | 201 | 202 | 204
  /**
   * May refuse a request before it is handled. It also runs before a stored response is repeated for an
   * Idempotency-Key, because the caller's rights may have changed since the first request.
   */
  readonly check:
    | ((request: RouteRequest<Query, Body>, services: Services) => Promise<void>)
    | undefined
  /** The thing that this route changes; requests are refused while a configuration file manages that thing. */
  readonly managed: ManagedThing | undefined
  /** The largest body in bytes, if not the default. */
  readonly maxBodyBytes: number | undefined
  readonly query: TSchema | undefined
  /** The lists that have one query parameter per item; every other list is one parameter, split at commas. */
  readonly repeated: readonly string[]
  readonly body: TSchema | undefined
  readonly answer: TSchema | undefined
  /** The content types of a streamed response, for the OpenAPI description. */
  readonly streams: readonly string[]
  readonly handle: (
    request: RouteRequest<Query, Body>,
    services: Services,
  ) => Promise<Answer | Answered<Answer> | Streamed>
  /** This member exists only at the type level and is never set. */
  readonly types?: { readonly query: Query; readonly body: Body; readonly answer: Answer }
}

/** A route with its own types erased; its handler receives only what its own schemas accepted. */
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
  readonly repeated?: readonly string[]
  readonly body?: Body
  readonly answer?: Answer
  readonly streams?: readonly string[]
  readonly handle: (
    request: RouteRequest<Typed<Query>, Typed<Body>>,
    services: Services,
  ) => Promise<Typed<Answer> | Answered<Typed<Answer>> | Streamed>
}

/** Defines a row of the table, typed by its schemas. */
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
    repeated: row.repeated ?? [],
    maxBodyBytes: row.maxBodyBytes,
    query: row.query as TSchema | undefined,
    body: row.body as TSchema | undefined,
    answer: row.answer as TSchema | undefined,
    streams: row.streams ?? [],
    handle: row.handle,
  }
}

/** The types from which the dashboard's client is derived. */
export type RoutesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route<infer Query, infer Body, infer Answer>
    ? Part<'query', Query> & Part<'body', Frozen<Body>> & Part<'answer', Answer>
    : never
}

/** Handlers only read bodies, so the client may pass readonly values. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Frozen<T[Name]> }
    : T
type Typed<Schema> = Schema extends TSchema ? Static<Schema> : undefined
type Part<Name extends string, Value> = [Value] extends [undefined]
  ? object
  : { readonly [N in Name]: Value }
