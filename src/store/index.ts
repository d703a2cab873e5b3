/** The only room that speaks SQL: one set of functions over SQLite and PostgreSQL. */
import type { Clock } from '../clock.ts'
import { createId } from '../ids.ts'
import type { Change, Connection, Engine, Transaction } from './connection.ts'
import type { EngineLane } from './engine.ts'
import { createFeed, type Feed } from './feed.ts'
import * as nodes from './nodes.ts'
import { forgetChanges } from './changes.ts'

export * as attempts from './attempts.ts'
export * as auditEntries from './audit.ts'
export * as connectionTests from './connection-tests.ts'
export * as connections from './connections.ts'
export * as domains from './domains.ts'
export * as calls from './calls.ts'
export * as deliveries from './deliveries.ts'
export * as deliveryWork from './delivery-work.ts'
export * as endpointCounts from './endpoint-counts.ts'
export * as endpoints from './endpoints.ts'
export * as events from './events.ts'
export * as directoryCounts from './directory-counts.ts'
export * as directoryGroups from './directory-groups.ts'
export * as directoryLists from './directory-lists.ts'
export * as directoryMembers from './directory-members.ts'
export * as directoryNewcomers from './directory-newcomers.ts'
export * as directoryRequests from './directory-requests.ts'
export * as directoryTokens from './directory-tokens.ts'
export * as directoryUsers from './directory-users.ts'
export * as directoryWalks from './directory-walks.ts'
export * as keyCallers from './key-callers.ts'
export * as keySecrets from './key-secrets.ts'
export * as idempotentAnswers from './idempotent-answers.ts'
export * as identities from './identities.ts'
export * as invitations from './invitations.ts'
export * as keys from './keys.ts'
export * as memberships from './memberships.ts'
export * as operations from './operations.ts'
export * as organizations from './organizations.ts'
export * as providerSessions from './provider-sessions.ts'
export * as sessions from './sessions.ts'
export * as settings from './settings.ts'
export * as signInLinks from './sign-in-links.ts'
export * as signingKeys from './signing-keys.ts'
export * as targets from './targets.ts'
export * as traffic from './traffic.ts'
export * as sealed from './sealed.ts'
export type { SealedColumn } from './sealed.ts'
export * as usedOnce from './used-once.ts'
export * as users from './users.ts'
export { probe } from './probe.ts'
export { restoreBackup } from './restore.ts'
export * as webhookSecrets from './webhook-secrets.ts'
export { auditHash } from './ledger.ts'
export { asStorageProblem } from './unavailable.ts'
export type {
  Actor,
  AuditDraft,
  Connection,
  Engine,
  EventDraft,
  Transaction,
} from './connection.ts'
export type { ConnectionTestRecord } from './connection-tests.ts'
export type { ConnectionId, ConnectionRecord } from './connections.ts'
export type { DomainRecord } from './domains.ts'
export type { CallRecord } from './calls.ts'
export type { AttemptRecord } from './attempts.ts'
export type { DeliveryFilter, DeliveryRecord, DeliveryState } from './deliveries.ts'
export type { AttemptOutcome, DueDelivery, Lease } from './delivery-work.ts'
export type { EndpointBooks } from './endpoint-counts.ts'
export type { EndpointRecord, EndpointSettings } from './endpoints.ts'
export type { EventRecord } from './events.ts'
export type { DirectoryCondition, DirectoryField } from './directory-conditions.ts'
export type { DirectoryGroupData, DirectoryGroupRecord, GroupRole } from './directory-groups.ts'
export type { DirectoryPlace, DirectoryQuery } from './directory-lists.ts'
export type { GroupOfUser } from './directory-members.ts'
export type { DirectoryRequestRecord } from './directory-requests.ts'
export type { DirectoryTokenRecord, KnownToken } from './directory-tokens.ts'
export type { DirectoryUserData, DirectoryUserRecord } from './directory-users.ts'
export type { Feed } from './feed.ts'
export type { KeySecretRecord, KeyUse } from './key-secrets.ts'
export type { Grant, KeyRecord, Quota, RateLimit, Scheme } from './keys.ts'
export type { IdentityKey, IdentityRecord } from './identities.ts'
export type { InvitationRecord } from './invitations.ts'
export type { MemberRecord, MembershipRecord } from './memberships.ts'
export type { RuleRecord, TargetRecord } from './targets.ts'
export type { MinuteCounts } from './traffic.ts'
export type { SessionRecord, SessionWithUser } from './sessions.ts'
export type { UserRecord } from './users.ts'
export type { OperationRecord, OperationState } from './operations.ts'
export type { OrganizationRecord, Plan } from './organizations.ts'

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
    const postgres = await import('./postgres.ts')
    return await postgres.openPostgres(url, clock, options.poolSize ?? 10, eventBytesMost)
  }
  async function openSqlite() {
    const sqlite = await import('./sqlite.ts')
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
