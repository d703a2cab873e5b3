import { auditEntries, auditHash, auditSeals, type Db, type Store } from '../store/index.ts'

/** The end of a chain at some time, with a MAC made with the master key; meant to be kept outside the database. */
export interface SignedHead {
  readonly organizationId: string
  readonly sequence: number
  readonly hash: string
  readonly seal: string
}

/** The result of verifying a chain. */
export interface ChainReport {
  readonly entries: number
  /** Where the chain is broken, as a sequence number; `reason` says why. Both are undefined if the chain is intact. */
  readonly brokenAt: number | undefined
  readonly reason: string | undefined
  readonly lastHash: string
}

const pageSize = 100
const maxAttempts = 3

export async function signedHead(db: Db, organizationId: string): Promise<SignedHead> {
  return { organizationId, ...(await auditEntries.headOf(db, organizationId)) }
}

/** Recomputes a chain from its anchor to its head, verifies that both are authentic, and compares it with `against`. */
export async function verifyChain(
  store: Store,
  organizationId: string,
  against: SignedHead | undefined,
): Promise<ChainReport> {
  let anchor = await auditEntries.anchorOf(store.slowReads, organizationId)
  for (let attempt = 1; ; attempt++) {
    const report = await walkFrom(anchor, { store, organizationId, against })
    if (report.brokenAt === undefined || attempt === maxAttempts) return report
    const begin = await auditEntries.anchorOf(store.slowReads, organizationId)
    if (begin.sequence === anchor.sequence && begin.hash === anchor.hash) return report
    // Retention has removed the oldest entries in the meantime, which must not look like tampering.
    anchor = begin
  }
}

async function walkFrom(
  anchor: Awaited<ReturnType<typeof auditEntries.anchorOf>>,
  of: {
    readonly store: Store
    readonly organizationId: string
    readonly against: SignedHead | undefined
  },
): Promise<ChainReport> {
  const { store, organizationId, against } = of
  let head = await auditEntries.headOf(store.slowReads, organizationId)
  const walk = new ChainWalk(anchor, against)
  if (!anchor.isSealed) return walk.broken(anchor.sequence, 'where the log begins was forged')
  if (against !== undefined && !isOurs(store, against)) {
    return walk.broken(against.sequence, 'the head to compare with was not signed here')
  }
  // Reading begins at the lowest number rather than at 1, so that forged entries with numbers below 1 are found too.
  for (let next: number | undefined; ;) {
    const rows = await auditEntries.listFrom(store.slowReads, {
      organizationId,
      fromSequence: next,
      limit: pageSize,
    })
    for (const row of rows) {
      // Entries and head are committed together, so an entry beyond the head that was read belongs to a newer head.
      if (row.sequence > head.sequence)
        head = await auditEntries.headOf(store.slowReads, organizationId)
      const fault = walk.take(row, head)
      if (fault !== undefined) return walk.broken(fault.at, fault.reason)
    }
    const last = rows.at(-1)
    if (!last || (rows.length < pageSize && last.sequence >= head.sequence)) break
    next = last.sequence + 1
  }
  const fault = walk.end(head)
  if (fault !== undefined) return walk.broken(fault.at, fault.reason)
  if (!isOurs(store, { organizationId, ...head })) {
    return walk.broken(head.sequence, 'where the log ends was forged')
  }
  return { ...walk.report, brokenAt: undefined, reason: undefined }
}

function isOurs(store: Store, head: SignedHead): boolean {
  return auditSeals.sealHolds(store, head.seal, auditSeals.headParts(head.organizationId, head))
}

type Row = Awaited<ReturnType<typeof auditEntries.listFrom>>[number]
type Place = Pick<SignedHead, 'sequence' | 'hash'>

interface Fault {
  readonly at: number
  readonly reason: string
}

class ChainWalk {
  readonly #anchor: Place
  readonly #against: Place | undefined
  #previous: string
  #expected: number
  #entries = 0

  constructor(anchor: Place, against: Place | undefined) {
    this.#anchor = anchor
    this.#against = against
    this.#previous = anchor.hash
    this.#expected = anchor.sequence + 1
  }

  get report(): Pick<ChainReport, 'entries' | 'lastHash'> {
    return { entries: this.#entries, lastHash: this.#previous }
  }

  broken(at: number, reason: string): ChainReport {
    return { ...this.report, brokenAt: at, reason }
  }

  take(row: Row, head: Place): Fault | undefined {
    const at = row.sequence
    if (at <= this.#anchor.sequence) return { at, reason: 'it stands before where the log begins' }
    if (at > head.sequence && this.#expected > head.sequence) {
      return { at, reason: 'it stands behind where the log ends' }
    }
    if (at !== this.#expected) return { at: this.#expected, reason: 'an entry is missing' }
    if (row.previous_hash !== this.#previous) {
      return { at, reason: 'it does not follow the entry before it' }
    }
    if (auditHash(row) !== row.hash) return { at, reason: 'it was changed' }
    if (at === this.#against?.sequence && row.hash !== this.#against.hash) {
      return { at, reason: 'it is not the entry of the head to compare with' }
    }
    this.#previous = row.hash
    this.#expected = at + 1
    this.#entries += 1
    return undefined
  }

  end({ sequence, hash }: Place): Fault | undefined {
    if (this.#expected !== sequence + 1) {
      return { at: this.#expected, reason: 'entries at the end are missing' }
    }
    if (this.#previous !== hash) {
      return { at: sequence, reason: 'the last entry is not the one that was written last' }
    }
    if (this.#against !== undefined && this.#against.sequence > sequence) {
      return { at: sequence + 1, reason: 'the log went back behind the head to compare with' }
    }
    return undefined
  }
}
