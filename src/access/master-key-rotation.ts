import { record } from '../audit/index.ts'
import type { Sealer } from '../secrets/index.ts'
import { auditSeals, sealed, type Actor, type SealedColumn, type Store } from '../store/index.ts'

export interface SealedCounts {
  readonly newest: number
  /** Under an older key that is still configured; `intercept reseal` moves these to the newest. */
  readonly older: number
  /** Under a key that is no longer configured, so they cannot be opened. */
  readonly unknown: number
}

export interface Resealed {
  readonly resealed: number
  /** Rows that no configured key opens; they are left as they are. */
  readonly unreadable: number
}

const rowsAtOnce = 200

/** Counts sealed values by their master key; `lasting` leaves out values that expire within a day anyway. */
export async function countSealed(
  store: Store,
  sealer: Sealer,
  options: { lasting?: boolean } = {},
): Promise<SealedCounts> {
  const counts = { newest: 0, older: 0, unknown: 0 }
  const add = ({ keyId, count }: { keyId: string; count: number }): void => {
    if (keyId === sealer.keyId) counts.newest += count
    else if (sealer.knows(keyId)) counts.older += count
    else counts.unknown += count
  }
  for (const column of sealed.sealedColumns) {
    if (options.lasting === true && column.shortLived === true) continue
    for (const each of await sealed.countByKey(store, column)) add(each)
  }
  for (const each of await auditSeals.countByKey(store)) add(each)
  return counts
}

/**
 * Seals again, with the newest master key, the values that an older one has sealed. May run while nodes run, and more
 * than once: it never overwrites what a node writes in the meantime.
 */
export async function resealAll(store: Store, sealer: Sealer, actor: Actor): Promise<Resealed> {
  const total = { resealed: 0, unreadable: 0 }
  for (const column of sealed.sealedColumns) {
    const { resealed, unreadable } = await resealColumn(store, sealer, column)
    total.resealed += resealed
    total.unreadable += unreadable
  }
  total.resealed += await store.transaction(async (tx) => await auditSeals.sealAgain(tx))
  await store.transaction(async (tx) =>
    record(tx, {
      organizationId: 'system',
      actor,
      action: 'master_key.resealed',
      subject: { kind: 'master_key', id: sealer.keyId },
      detail: { ...total },
    }),
  )
  return total
}

async function resealColumn(store: Store, sealer: Sealer, column: SealedColumn): Promise<Resealed> {
  let resealed = 0
  let unreadable = 0
  let after: Record<string, string> | undefined
  for (;;) {
    const page = { keyId: sealer.keyId, after, limit: rowsAtOnce }
    const rows = await sealed.listOld(store, column, page)
    const fresh = rows.map((row) => ({ row, text: sealedAgain(sealer, column, row) }))
    unreadable += fresh.filter(({ text }) => text === undefined).length
    resealed += await store.transaction(async (tx) => {
      let done = 0
      for (const { row, text } of fresh) {
        if (text !== undefined && (await sealed.replace(tx, { place: column, row, sealed: text })))
          done++
      }
      return done
    })
    after = rows.at(-1)
    if (rows.length < rowsAtOnce) return { resealed, unreadable }
  }
}

function sealedAgain(
  sealer: Sealer,
  column: SealedColumn,
  row: Readonly<Record<string, string>>,
): string | undefined {
  const context = column.context(row)
  try {
    return sealer.seal(sealer.open(row['sealed'] ?? '', context), context)
  } catch {
    return undefined
  }
}
