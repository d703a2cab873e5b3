import { createId } from '../ids.ts'
import { auditEntries, auditExport, type Store } from '../store/index.ts'
import { signedHead, type SignedHead } from './chain.ts'
import {
  CollectorRefusal,
  renderLogs,
  type Attributes,
  type LogRecord,
  type Metrics,
} from '../telemetry/index.ts'

const everyMs = 2000
const entriesInBatch = 256
// Collectors refuse bodies beyond a few MiB; the largest part of an entry is its detail.
const detailInBatch = 1024 * 1024
const chainsInTurn = 100
// Longer than a batch usually takes, so that two processes don't send the same entries.
const turnMs = 30_000

export interface AuditExportDeps {
  readonly store: Store
  /**
   * Sends a body to the collector within its own deadline. Throws if that fails: a `CollectorRefusal` if the collector
   * refuses the body itself.
   */
  readonly post: (body: string) => Promise<void>
  /** The attributes that identify this service to the collector. */
  readonly resource: Attributes
  readonly metrics: Metrics
  readonly log: { warn(fields: object, text: string): void }
}

/**
 * Sends audit entries to a collector. Progress is recorded only after the collector has accepted the entries, so no
 * failure skips an entry, but an entry may arrive twice. Retention does not wait for the collector.
 */
export class AuditExport implements AsyncDisposable {
  readonly #deps: AuditExportDeps
  readonly #holder = createId('node')
  readonly #timer: NodeJS.Timeout
  #sending: Promise<void> | undefined
  #sent = 0
  #isFailing = false
  #stopped = false

  constructor(deps: AuditExportDeps) {
    this.#deps = deps
    const about = 'Audit entries that the collector has taken from this process.'
    deps.metrics.measured('intercept_audit_exported_total', about, () => this.#sent)
    this.#timer = setInterval(() => void this.flush(), everyMs).unref()
  }

  /**
   * Sends waiting entries if it is this process's turn, or joins a run that is in progress. Failures are not thrown;
   * the first of several in a row is logged.
   */
  async flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
    await this.#sending
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    const { store, log } = this.#deps
    try {
      const unsent = await auditExport.listUnsent(store, chainsInTurn)
      if (unsent.length === 0) return
      let refusal: CollectorRefusal | undefined
      for (const chain of unsent) {
        const turn = { holder: this.#holder, ttlMs: turnMs }
        if (!(await store.transaction(async (tx) => await auditExport.takeTurn(tx, turn)))) return
        try {
          await this.#sendChain(chain)
        } catch (err) {
          // If the collector refuses the entries of one organization, those of the others must still be sent.
          if (!(err instanceof CollectorRefusal)) throw err
          refusal = err
        }
      }
      if (refusal) throw refusal
      if (this.#isFailing) log.warn({}, 'Audit entries are sent to the collector again')
      this.#isFailing = false
    } catch (err) {
      // Nothing is lost: the entries stay in the database, and the next round tries again.
      if (!this.#isFailing) log.warn({ err }, 'Audit entries could not be sent to the collector')
      this.#isFailing = true
    }
  }

  async #sendChain({ organizationId, sent }: auditExport.UnsentChain): Promise<void> {
    const { store, post, resource } = this.#deps
    for (let last = sent; !this.#stopped;) {
      const head = await signedHead(store, organizationId)
      const found = await auditEntries.listFrom(store.slowReads, {
        organizationId,
        fromSequence: last + 1,
        limit: entriesInBatch,
      })
      const rows = firstOf(found)
      const end = rows.at(-1)?.sequence
      if (end === undefined) return
      const records = rows.map(toLogRecord)
      // Kept outside the database, a signed head later reveals whether the chain was rolled back.
      if (head.sequence <= end) records.push(headRecord(head, rows.at(-1)?.at ?? 0))
      await post(renderLogs(records, resource))
      this.#sent += rows.length
      await store.transaction(
        async (tx) => await auditExport.setSent(tx, { organizationId, sent: end }),
      )
      if (rows.length === found.length && found.length < entriesInBatch) return
      last = end
    }
  }
}

/** Returns the first entries that fit into one body, but at least one. */
function firstOf(rows: readonly auditEntries.AuditTable[]): readonly auditEntries.AuditTable[] {
  let size = 0
  const tooMany = rows.findIndex(({ detail }, at) => {
    size += detail.length
    return at > 0 && size > detailInBatch
  })
  return tooMany === -1 ? rows : rows.slice(0, tooMany)
}

function toLogRecord(row: auditEntries.AuditTable): LogRecord {
  return {
    at: row.at,
    event: `audit.${row.action}`,
    isWarning: false,
    body: row.action,
    attributes: {
      'intercept.audit.id': row.id,
      'intercept.audit.sequence': row.sequence,
      'intercept.audit.hash': row.hash,
      'intercept.organization.id': row.organization_id,
      'intercept.actor.kind': row.actor_kind,
      'intercept.actor.id': row.actor_id ?? undefined,
      'intercept.actor.name': row.actor_name ?? undefined,
      'intercept.subject.kind': row.subject_kind,
      'intercept.subject.id': row.subject_id,
      'intercept.audit.detail': row.detail,
      'client.address': row.address ?? undefined,
      'intercept.request.id': row.request_id ?? undefined,
    },
  }
}

function headRecord(head: SignedHead, at: number): LogRecord {
  return {
    at,
    event: 'audit.head_sealed',
    isWarning: false,
    body: 'audit.head_sealed',
    attributes: {
      'intercept.organization.id': head.organizationId,
      'intercept.audit.sequence': head.sequence,
      'intercept.audit.hash': head.hash,
      'intercept.audit.seal': head.seal,
    },
  }
}
