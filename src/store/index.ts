/** The only room that speaks SQL: one set of functions over SQLite and PostgreSQL. */
import type { CallRows } from './tables/calls/call-rows.ts'
import type { Clock } from '../clock.ts'
import { createId } from '../ids.ts'
import type { Authenticator } from '../secrets/index.ts'
import type { Change, Db, Engine, Tx } from './db/db.ts'
import type { EngineLane, PoolState } from './engine/engine.ts'
import { createCompanions } from './engine/companions.ts'
import { createFeedSource } from './engine/feed-source.ts'
import { createNodeBook, forgetOldChanges, lookAtChange } from './engine/node-book.ts'
import { probe, probeLockWaits } from './engine/probe.ts'
import { asStorageProblem, isWaitTooLong } from './engine/unavailable.ts'
import { waitForConfirmation, type Confirmation } from './feed/confirmation.ts'
import { DatabaseClock } from './feed/database-clock.ts'
import { ChangeFeed, systemTimers, type Feed, type HistoryChange } from './feed/feed.ts'
import { NodeRegistration, standsAlone } from './feed/node-registration.ts'
import { patiently } from './feed/patience.ts'

export * as auditSeals from './tables/audit/seals.ts'
export * as attempts from './tables/webhooks/attempts.ts'
export * as auditExport from './tables/audit/audit-export.ts'
export * as auditEntries from './tables/audit/audit.ts'
export { subjectNames } from './tables/audit/subject-names.ts'
export * as connectionTests from './tables/sso/connection-tests.ts'
export * as connections from './tables/sso/connections.ts'
export * as domains from './tables/sso/domains.ts'
export * as callPartitions from './tables/calls/call-partitions.ts'
export * as calls from './tables/calls/calls.ts'
export * as callSums from './tables/calls/call-sums.ts'
export * as deliveries from './tables/webhooks/deliveries.ts'
export * as deliveryQueue from './tables/webhooks/queue.ts'
export * as deliveryWork from './tables/webhooks/delivery-work.ts'
export * as databaseServer from './tables/nodes/database-server.ts'
export * as nodes from './tables/nodes/nodes.ts'
export * as endpointCounts from './tables/webhooks/endpoint-counts.ts'
export * as endpoints from './tables/webhooks/endpoints.ts'
export * as events from './tables/webhooks/events.ts'
export * as directoryCounts from './tables/directory/directory-counts.ts'
export * as directoryGroups from './tables/directory/directory-groups.ts'
export * as directoryDuplicates from './tables/directory/directory-duplicates.ts'
export * as directoryLists from './tables/directory/directory-lists.ts'
export * as directoryMembers from './tables/directory/directory-members.ts'
export * as directoryNewcomers from './tables/directory/directory-newcomers.ts'
export * as directoryRequests from './tables/directory/directory-requests.ts'
export * as accessTokens from './tables/access-tokens/access-tokens.ts'
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
export * as rateShares from './tables/limits/rate-shares.ts'
export * as traffic from './tables/calls/traffic.ts'
export * as sealed from './tables/settings/sealed.ts'
export type { SealedColumn } from './tables/settings/sealed.ts'
export * as usedOnce from './tables/settings/used-once.ts'
export * as users from './tables/people/users.ts'
export { isInUse } from './engine/in-use.ts'
export { probe, probeLockWaits }
export { snakeCased } from './db/snake-case.ts'
export { restoreBackup } from './engine/restore.ts'
export * as webhookSecrets from './tables/webhooks/webhook-secrets.ts'
export { auditHash } from './engine/ledger.ts'
export { asStorageProblem, isWaitTooLong }
export type { Confirmation }
export type { Actor, AuditDraft, Db, Engine, EventDraft, Tx } from './db/db.ts'
export type { ConnectionTestRecord } from './tables/sso/connection-tests.ts'
export type { ConnectionId, ConnectionRecord } from './tables/sso/connections.ts'
export type { DomainRecord } from './tables/sso/domains.ts'
export { CallRowsBuffer, type CallRows } from './tables/calls/call-rows.ts'
export type { CallRecord } from './tables/calls/call-record.ts'
export { recordedPrefix, type CallFilter, type CallOutcome } from './tables/calls/call-filter.ts'
export type { Percentiles, TimedPart } from './tables/calls/call-sums.ts'
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
export type {
  AccessTokenId,
  AccessTokenRecord,
  KnownAccessToken,
} from './tables/access-tokens/access-tokens.ts'
export { createFeedCache } from './feed/feed-cache.ts'
export type { DirectoryTokenRecord, KnownToken } from './tables/directory/directory-tokens.ts'
export type { DirectoryUserData, DirectoryUserRecord } from './tables/directory/directory-users.ts'
export type { Feed, HistoryChange } from './feed/feed.ts'
export type { KeySecretRecord, KeyUse } from './tables/keys/key-secrets.ts'
export type { Grant, KeyRecord, Quota, Scheme } from './tables/keys/keys.ts'
export type { AwaitsOwner, IdentityKey, IdentityRecord } from './tables/people/identities.ts'
export type { InvitationRecord } from './tables/people/invitations.ts'
export type {
  MemberRecord,
  MembershipRecord,
  MembershipRole,
  MembershipSource,
} from './tables/people/memberships.ts'
export type { RuleRecord, TargetRecord } from './tables/targets/targets.ts'
export type { SessionRecord, SessionWithUser } from './tables/sessions/sessions.ts'
export type { UserRecord } from './tables/people/users.ts'
export type { OperationRecord, OperationState } from './tables/settings/operations.ts'
export type { OrganizationRecord, Plan } from './tables/organizations/organizations.ts'

const sampleClockMs = 5000
const forgetChangesMs = 60_000
const maxClockOffsetMs = 2000

/** How a node stands to the database and the others. */
export interface StoreStatus {
  /** Milliseconds since the feed was last known to be whole. */
  readonly feedAgeMs: number
  /** Nodes without a heartbeat, as far as this one has noticed. */
  readonly silentNodes: number
  /** Milliseconds that this machine's clock is ahead of the database's. */
  readonly clockOffsetMs: number
  /** Whether that is more than a machine that is kept in time has. */
  readonly isClockOff: boolean
}

/** The database, whichever engine it is on. */
export interface Store extends Db {
  readonly engine: Engine
  readonly feed: Feed
  /** The time that all nodes share: the database's, where it has a clock of its own. */
  readonly clock: Clock
  /** How this node stands to the database and the others. */
  status(): StoreStatus
  /** The connections of this process; undefined on SQLite, which has no pool. */
  pool(): PoolState | undefined
  /**
   * The same database over connections of its own, for what must go on while everybody else waits for a lock: sending
   * deliveries. What it commits is heard like everything else.
   */
  readonly background: Db & Pick<Store, 'transaction'>
  /** Where call records are. */
  readonly calls: Db
  /** For reads that may take seconds: they hold up nothing else in this process. */
  readonly slowReads: Db
  /** The same where call records are. */
  readonly slowCallReads: Db
  /** Commits a work as a whole, with what it collected. Only the database may be awaited inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * The same, and answers only when every live node has heard it, or trusts nothing any more (1 s); `isNeeded` says
   * whether a result has to be heard at all. Works of one `queue` run one after the other in this process, and those
   * that wait at the same time share a commit: for many small ones that would wait for the same locks.
   */
  transactionConfirmed<T>(
    work: (tx: Tx) => Promise<T>,
    options?: {
      readonly isNeeded?: (result: T) => boolean
      readonly queue?: string | undefined
    },
  ): Promise<{ result: T; confirmation: Confirmation }>
  /**
   * Runs something whose audited transactions also do `companion`, each as its last act: both are committed or neither.
   */
  accompanied<T>(companion: (tx: Tx) => Promise<void>, run: () => Promise<T>): Promise<T>
  /** Commits a work on the call records. */
  transactionOnCalls<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Adds call records in a commit of their own; one batch at a time. */
  insertCalls(rows: CallRows): Promise<void>
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
  /** Whether the database's clock decides, and `clock` is only the machine's (PostgreSQL). */
  followsDatabaseClock?: boolean | undefined
  /** Is called when the database turned out to have another history. */
  onHistory?: ((change: HistoryChange) => void) | undefined
  /** Is told how long each transaction took, in milliseconds. */
  onTransaction?: ((tookMs: number) => void) | undefined
  /** Whether this process serves requests: then it registers as a node and others wait for it. */
  isNode: boolean
  poolSize?: number | undefined
  /** An event's bytes at most; 64 KiB. */
  maxEventBytes?: number | undefined
  /** Vouches for the heads of the audit chains. */
  authenticator?: Authenticator | undefined
}): Promise<Store> {
  const { maxEventBytes, authenticator } = options
  const ledger = { maxEventBytes, authenticator }
  const shared =
    options.followsDatabaseClock && options.databaseUrl
      ? new DatabaseClock(options.clock)
      : undefined
  const clock = shared ?? options.clock
  // Only the driver that is used is loaded: the other one costs memory for nothing.
  async function openPostgres(url: string) {
    const postgres = await import('./engine/postgres.ts')
    return await postgres.openPostgres(url, clock, options.poolSize ?? 10, ledger)
  }
  async function openSqlite() {
    const sqlite = await import('./engine/sqlite.ts')
    return await sqlite.openSqlite(options.folder, clock, ledger)
  }

  const handle = options.databaseUrl ? await openPostgres(options.databaseUrl) : await openSqlite()
  const sampleClock = async (): Promise<void> => {
    const at = { query: handle.background.query, engine: handle.engine }
    await shared?.sample(async () => (await probe(at)).nowMs ?? options.clock.now())
  }
  await sampleClock()
  const nodeId = createId('node', clock.now())
  const registration = options.isNode
    ? new NodeRegistration({
        id: nodeId,
        book: createNodeBook(handle, nodeId),
        clock,
        timers: systemTimers,
      })
    : undefined
  const feed = new ChangeFeed({
    source: createFeedSource(handle),
    // Jumps of the machine's own clock say that it stood still.
    clock: options.clock,
    standing: registration ?? standsAlone,
    onHistory: options.onHistory,
  })
  registration?.start(() => feed.mark())
  handle.onOther(() => feed.doubt())
  await feed.start()
  feed.onForeign(() => void registration?.beat().catch(() => undefined))
  const stops = [
    () => feed.stop(),
    () => registration?.stop(),
    systemTimers.every(sampleClockMs, () => void sampleClock().catch(() => undefined)),
    systemTimers.every(
      forgetChangesMs,
      () => options.isNode && void forgetOldChanges(handle).catch(() => undefined),
    ),
  ]

  const companions = createCompanions()

  async function transact<T>(
    work: (tx: Tx) => Promise<T>,
    lane: EngineLane = handle,
    queue?: string,
  ): Promise<{ result: T; changes: Change[] }> {
    const startedAt = clock.monotonic()
    const done = await lane.transact(companions.accompany(work), queue)
    options.onTransaction?.(clock.monotonic() - startedAt)
    feed.heardOwn(done.changes)
    return done
  }

  return {
    engine: handle.engine,
    query: handle.query,
    authenticator,
    background: {
      engine: handle.engine,
      query: handle.background.query,
      transaction: async (work) => (await transact(work, handle.background)).result,
    },
    calls: handle.calls,
    slowReads: { ...handle.slowReads, authenticator },
    slowCallReads: handle.slowCallReads,
    feed,
    clock,
    pool: () => handle.pool?.(),
    status: () => ({
      feedAgeMs: feed.ageMs(),
      silentNodes: registration?.silent ?? 0,
      clockOffsetMs: shared?.offsetMs() ?? 0,
      isClockOff: Math.abs(shared?.offsetMs() ?? 0) > maxClockOffsetMs,
    }),
    transaction: async (work) => (await transact(work)).result,
    accompanied: companions.run,
    transactionOnCalls: handle.transactCalls,
    insertCalls: handle.insertCalls,
    async transactionConfirmed(work, { isNeeded, queue } = {}) {
      const lane = queue === undefined ? handle.urgent : handle
      const { result, changes } = await patiently(
        { clock, isAnswering: () => feed.isCurrent(), isWaitTooLong },
        async () => await transact(work, lane, queue),
      )
      if (isNeeded?.(result) === false) {
        return { result, confirmation: { nodes: 0, silentNodes: 0, tookMs: 0 } }
      }
      const confirmation = await waitForConfirmation({
        look: async (change) => await lookAtChange(handle, change),
        clock,
        wait: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
        self: options.isNode ? nodeId : undefined,
        change: changes.at(-1),
      })
      return { result, confirmation }
    },
    backup: handle.backup,
    async [Symbol.asyncDispose]() {
      for (const stop of stops) stop()
      if (options.isNode)
        await createNodeBook(handle, nodeId)
          .leave()
          .catch(() => undefined)
      await handle.close()
    },
  }
}

/**
 * The store as it is inside a transaction that is under way: what asks for a transaction of its own becomes a part of
 * that one, so that several works are committed together or not at all.
 */
export function storeWithin(store: Store, tx: Tx): Store {
  return {
    ...store,
    query: tx.query,
    transaction: async (work) => await work(tx),
    async transactionConfirmed(work) {
      // Whoever opened the transaction waits for its confirmation.
      return { result: await work(tx), confirmation: { nodes: 0, silentNodes: 0, tookMs: 0 } }
    },
  }
}
