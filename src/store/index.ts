/** The only room that speaks SQL: one set of functions over SQLite and PostgreSQL. */
import type { Clock } from '../clock.ts'
import { createId } from '../ids.ts'
import type { Change, Connection, Engine, Transaction } from './db/db.ts'
import type { EngineLane } from './engine/engine.ts'
import { createFeed, type Feed } from './engine/feed.ts'
import * as nodes from './tables/nodes/nodes.ts'
import { forgetChanges } from './tables/nodes/changes.ts'

export * as attempts from './tables/webhooks/attempts.ts'
export * as auditEntries from './tables/audit/audit.ts'
export * as connectionTests from './tables/sso/connection-tests.ts'
export * as connections from './tables/sso/connections.ts'
export * as domains from './tables/sso/domains.ts'
export * as calls from './tables/calls/calls.ts'
export * as deliveries from './tables/webhooks/deliveries.ts'
export * as deliveryWork from './tables/webhooks/delivery-work.ts'
export * as endpointCounts from './tables/webhooks/endpoint-counts.ts'
export * as endpoints from './tables/webhooks/endpoints.ts'
export * as events from './tables/webhooks/events.ts'
export * as directoryCounts from './tables/directory/directory-counts.ts'
export * as directoryGroups from './tables/directory/directory-groups.ts'
export * as directoryLists from './tables/directory/directory-lists.ts'
export * as directoryMembers from './tables/directory/directory-members.ts'
export * as directoryNewcomers from './tables/directory/directory-newcomers.ts'
export * as directoryRequests from './tables/directory/directory-requests.ts'
export * as directoryTokens from './tables/directory/directory-tokens.ts'
export * as directoryUsers from './tables/directory/directory-users.ts'
export * as directoryWalks from './tables/directory/directory-walks.ts'
export * as keyCallers from './tables/keys/key-callers.ts'
export * as keyNames from './tables/keys/key-names.ts'
export * as keySecrets from './tables/keys/key-secrets.ts'
export * as idempotentAnswers from './tables/settings/idempotent-answers.ts'
export * as identities from './tables/people/identities.ts'
export * as invitations from './tables/people/invitations.ts'
export * as keys from './tables/keys/keys.ts'
export * as memberships from './tables/people/memberships.ts'
export * as operations from './tables/settings/operations.ts'
export * as organizations from './tables/organizations/organizations.ts'
export * as providerSessions from './tables/sessions/provider-sessions.ts'
export * as sessions from './tables/sessions/sessions.ts'
export * as settings from './tables/settings/settings.ts'
export * as signInLinks from './tables/people/sign-in-links.ts'
export * as signingKeys from './tables/sessions/signing-keys.ts'
export * as targets from './tables/targets/targets.ts'
export * as traffic from './tables/calls/traffic.ts'
export * as sealed from './tables/settings/sealed.ts'
export type { SealedColumn } from './tables/settings/sealed.ts'
export * as usedOnce from './tables/settings/used-once.ts'
export * as users from './tables/people/users.ts'
export { probe } from './engine/probe.ts'
export { restoreBackup } from './engine/restore.ts'
export * as webhookSecrets from './tables/webhooks/webhook-secrets.ts'
export { auditHash } from './engine/ledger.ts'
export { asStorageProblem } from './engine/unavailable.ts'
export type { Actor, AuditDraft, Connection, Engine, EventDraft, Transaction } from './db/db.ts'
export type { ConnectionTestRecord } from './tables/sso/connection-tests.ts'
export type { ConnectionId, ConnectionRecord } from './tables/sso/connections.ts'
export type { DomainRecord } from './tables/sso/domains.ts'
export type { CallRecord } from './tables/calls/calls.ts'
export type { AttemptRecord } from './tables/webhooks/attempts.ts'
export type { DeliveryFilter, DeliveryRecord, DeliveryState } from './tables/webhooks/deliveries.ts'
export type { AttemptOutcome, DueDelivery, Lease } from './tables/webhooks/delivery-work.ts'
export type { EndpointBooks } from './tables/webhooks/endpoint-counts.ts'
export type { EndpointRecord, EndpointSettings } from './tables/webhooks/endpoints.ts'
export type { EventRecord } from './tables/webhooks/events.ts'
export type { DirectoryCondition, DirectoryField } from './tables/directory/directory-conditions.ts'
export type {
  DirectoryGroupData,
  DirectoryGroupRecord,
  GroupRole,
} from './tables/directory/directory-groups.ts'
export type { DirectoryPlace, DirectoryQuery } from './tables/directory/directory-lists.ts'
export type { GroupOfUser } from './tables/directory/directory-members.ts'
export type { DirectoryRequestRecord } from './tables/directory/directory-requests.ts'
export type { DirectoryTokenRecord, KnownToken } from './tables/directory/directory-tokens.ts'
export type { DirectoryUserData, DirectoryUserRecord } from './tables/directory/directory-users.ts'
export type { Feed } from './engine/feed.ts'
export type { KeySecretRecord, KeyUse } from './tables/keys/key-secrets.ts'
export type { Grant, KeyRecord, Quota, RateLimit, Scheme } from './tables/keys/keys.ts'
export type { IdentityKey, IdentityRecord } from './tables/people/identities.ts'
export type { InvitationRecord } from './tables/people/invitations.ts'
export type { MemberRecord, MembershipRecord } from './tables/people/memberships.ts'
export type { RuleRecord, TargetRecord } from './tables/targets/targets.ts'
export type { SessionRecord, SessionWithUser } from './tables/sessions/sessions.ts'
export type { UserRecord } from './tables/people/users.ts'
export type { OperationRecord, OperationState } from './tables/settings/operations.ts'
export type { OrganizationRecord, Plan } from './tables/organizations/organizations.ts'

const heartbeatMs = 5000
const silentNodeMs = 15_000
const confirmWithinMs = 1000
const confirmPollMs = 4
const changesKeptMs = 3_600_000

/** How far a change had got when it was answered. */
export interface Confirmation {
  /** Nodes that had heard it, this one included if it serves. */
  readonly nodes: number
  /** Nodes that had not, and whose trust in their caches has run out instead. */
  readonly silentNodes: number
  /** Milliseconds from the commit to the last confirmation. */
  readonly tookMs: number
}

/** The database, whichever engine it is on. */
export interface Store extends Connection {
  readonly engine: Engine
  readonly feed: Feed
  /**
   * The same database over connections of its own, for what must go on while everybody else waits for a lock: sending
   * deliveries. What it commits is heard like everything else.
   */
  readonly apart: Connection & Pick<Store, 'transaction'>
  /** Where call records are. */
  readonly calls: Connection
  /** For reads that may take seconds: they hold up nothing else in this process. */
  readonly aside: Connection
  /** The same where call records are. */
  readonly slowCallReads: Connection
  /** Commits a work as a whole, with what it collected. Only the database may be awaited inside. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * The same, and answers only when every live node has heard it, or trusts nothing any more (1 s); `isNeeded` says
   * whether a result has to be heard at all. Works of one `line` run one after the other in this process, and those
   * that wait at the same time share a commit: for many small ones that would wait for the same locks.
   */
  transactionConfirmed<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: {
      readonly isNeeded?: (result: T) => boolean
      readonly line?: string | undefined
    },
  ): Promise<{ result: T; confirmation: Confirmation }>
  /** Commits a work on the call records. */
  transactionOnCalls<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Copies the main database into a new file, whole or not at all (SQLite). */
  backup(file: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens the database, brings its schema up to date and starts reading the change feed. */
export async function openStore(options: {
  /** postgres://…, or empty for SQLite in the folder. */
  databaseUrl?: string | undefined
  folder: string
  clock: Clock
  /** Whether this process serves requests: then it registers as a node and others wait for it. */
  isNode: boolean
  poolSize?: number | undefined
  /** An event's bytes at most; 64 KiB. */
  eventBytesMost?: number | undefined
}): Promise<Store> {
  const { clock, eventBytesMost } = options
  // Only the driver that is used is loaded: the other one costs memory for nothing.
  async function openPostgres(url: string) {
    const postgres = await import('./engine/postgres.ts')
    return await postgres.openPostgres(url, clock, options.poolSize ?? 10, eventBytesMost)
  }
  async function openSqlite() {
    const sqlite = await import('./engine/sqlite.ts')
    return await sqlite.openSqlite(options.folder, clock, eventBytesMost)
  }

  const handle = options.databaseUrl ? await openPostgres(options.databaseUrl) : await openSqlite()
  const feed = createFeed(handle, clock)
  await feed.start()
  const nodeId = createId('node', clock.now())

  async function transact<T>(
    work: (tx: Transaction) => Promise<T>,
    lane: EngineLane = handle,
    line?: string,
  ): Promise<{ result: T; changes: Change[] }> {
    const done = await lane.transact(work, line)
    feed.heardOwn(done.changes)
    return done
  }

  async function beat(): Promise<void> {
    await transact(async (tx) => {
      await nodes.heartbeat(tx, { id: nodeId, seenSequence: feed.sequence() })
      await nodes.forgetSilent(tx, tx.now - changesKeptMs)
      await forgetChanges(tx, tx.now - changesKeptMs)
    }, handle.apart)
  }

  async function confirmation(sequence: number, committedAt: number): Promise<Confirmation> {
    for (;;) {
      const others = (await nodes.listSince(handle, clock.now() - silentNodeMs)).filter(
        (node) => node.id !== nodeId,
      )
      const silent = others.filter((node) => node.seenSequence < sequence)
      const tookMs = clock.monotonic() - committedAt
      if (silent.length === 0 || tookMs >= confirmWithinMs) {
        const heard = others.length - silent.length + (options.isNode ? 1 : 0)
        return { nodes: heard, silentNodes: silent.length, tookMs: Math.round(tookMs * 10) / 10 }
      }
      await new Promise((resolve) => setTimeout(resolve, confirmPollMs))
    }
  }

  let heart: NodeJS.Timeout | undefined
  if (options.isNode) {
    await beat()
    heart = setInterval(() => void beat().catch(() => undefined), heartbeatMs).unref()
    feed.onForeign(() => void beat().catch(() => undefined))
  }

  return {
    engine: handle.engine,
    query: handle.query,
    apart: {
      engine: handle.engine,
      query: handle.apart.query,
      transaction: async (work) => (await transact(work, handle.apart)).result,
    },
    calls: handle.calls,
    aside: handle.aside,
    slowCallReads: handle.slowCallReads,
    feed,
    transaction: async (work) => (await transact(work)).result,
    transactionOnCalls: handle.transactCalls,
    async transactionConfirmed(work, { isNeeded, line } = {}) {
      const { result, changes } = await transact(work, handle, line)
      if (isNeeded?.(result) === false) {
        return { result, confirmation: { nodes: 0, silentNodes: 0, tookMs: 0 } }
      }
      const last = changes.at(-1)?.sequence ?? 0
      return { result, confirmation: await confirmation(last, clock.monotonic()) }
    },
    backup: handle.backup,
    async [Symbol.asyncDispose]() {
      clearInterval(heart)
      feed.stop()
      if (options.isNode) {
        await transact(async (tx) => await nodes.leave(tx, nodeId)).catch(() => undefined)
      }
      await handle.close()
    },
  }
}
