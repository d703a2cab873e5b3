import type { OrganizationId, RuleId, TargetId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { removeOwn } from '../../db/own-rows.ts'

export interface TargetTable {
  id: string
  organization_id: string
  slug: string
  name: string
  upstream: string
  credential_header: string | null
  credential_sealed: string | null
  settings: string
  otherwise: string | null
  disabled_at: number | null
  created_at: number
  version: number
}

export interface RuleTable {
  id: string
  target_id: string
  organization_id: string
  position: number
  effect: string
  methods: string
  path: string
  trial: number
}

/** A rule as stored; an empty list of methods means all. */
export interface RuleRecord {
  readonly id: RuleId
  readonly effect: 'allow' | 'deny'
  readonly methods: readonly string[]
  readonly path: string
  readonly trial: boolean
}

/** A target as stored, with its rules in order; its credential for the upstream is sealed. */
export interface TargetRecord {
  readonly id: TargetId
  readonly organizationId: OrganizationId
  readonly slug: string
  readonly name: string
  readonly upstream: string
  readonly credentialHeader: string | undefined
  readonly credentialSealed: string | undefined
  /** JSON whose format src/targets defines. */
  readonly settings: Readonly<Record<string, unknown>>
  /** What happens to calls that no rule decides; if undefined, it follows from the rules (see `lastLineOf`). */
  readonly otherwise: 'allow' | 'refuse' | undefined
  readonly disabledAt: number | undefined
  readonly createdAt: number
  readonly version: number
  readonly rules: readonly RuleRecord[]
}

export interface TargetLookUp {
  readonly organizationId: OrganizationId
  readonly idOrSlug: string
  readonly lock?: boolean | undefined
}

/** The columns of a target that can be changed; its slug can't. */
export type TargetColumns = Pick<
  TargetRecord,
  | 'name'
  | 'upstream'
  | 'credentialHeader'
  | 'credentialSealed'
  | 'settings'
  | 'otherwise'
  | 'disabledAt'
>

/** Adds a target without rules; undefined if the slug is taken. */
export async function insert(
  tx: Tx,
  target: TargetColumns & Pick<TargetRecord, 'id' | 'organizationId' | 'slug'>,
): Promise<TargetRecord | undefined> {
  const row = await tx.query
    .insertInto('target')
    .values({
      id: target.id,
      organization_id: target.organizationId,
      slug: target.slug,
      ...columnsOf(target),
      created_at: tx.now,
      version: 1,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'slug']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row, [])
}

/** Replaces a target's editable columns; undefined if there is no such target at that version. */
export async function update(
  tx: Tx,
  {
    organizationId,
    id,
    target,
    expectedVersion,
  }: {
    readonly organizationId: OrganizationId
    readonly id: TargetId
    readonly target: TargetColumns
    readonly expectedVersion?: number | undefined
  },
): Promise<TargetRecord | undefined> {
  let query = tx.query
    .updateTable('target')
    .set((eb) => ({ ...columnsOf(target), version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
  if (expectedVersion !== undefined) query = query.where('version', '=', expectedVersion)
  const row = await query.returningAll().executeTakeFirst()
  return row && fromRow(row, await rulesOf(tx, organizationId, [row.id]))
}

export async function replaceRules(
  tx: Tx,
  {
    organizationId,
    id,
    rules,
  }: {
    readonly organizationId: OrganizationId
    readonly id: TargetId
    readonly rules: readonly RuleRecord[]
  },
): Promise<void> {
  await removeRules(tx, organizationId, id)
  if (rules.length === 0) return
  await tx.query
    .insertInto('rule')
    .values(
      rules.map((rule, position) => ({
        id: rule.id,
        target_id: id,
        organization_id: organizationId,
        position,
        effect: rule.effect,
        methods: rule.methods.join(','),
        path: rule.path,
        trial: rule.trial ? 1 : 0,
      })),
    )
    .execute()
}

export async function remove(
  tx: Tx,
  organizationId: OrganizationId,
  id: TargetId,
): Promise<boolean> {
  await removeRules(tx, organizationId, id)
  return await removeOwn(tx, 'target', { organizationId, id })
}

/**
 * Finds a target with its rules by its id or slug, but never another organization's. With `lock`, its row stays locked
 * until the transaction ends.
 */
export async function find(
  db: Db,
  { organizationId, idOrSlug, lock = false }: TargetLookUp,
): Promise<TargetRecord | undefined> {
  const row = await db.query
    .selectFrom('target')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('id', '=', idOrSlug), eb('slug', '=', idOrSlug)]))
    .$if(lock && db.engine === 'postgres', (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return row && fromRow(row, await rulesOf(db, organizationId, [row.id]))
}

/** Lists all targets of an organization in slug order. */
export async function list(db: Db, organizationId: OrganizationId): Promise<TargetRecord[]> {
  const rows = await db.query
    .selectFrom('target')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('slug')
    .execute()
  const rules = await rulesOf(
    db,
    organizationId,
    rows.map((row) => row.id),
  )
  const ofTarget = Map.groupBy(rules, (rule) => rule.target_id)
  return rows.map((row) => fromRow(row, ofTarget.get(row.id) ?? []))
}

export async function slugs(
  db: Db,
  organizationId: OrganizationId,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query
    .selectFrom('target')
    .select(['id', 'slug'])
    .where('organization_id', '=', organizationId)
    .execute()
  return new Map(rows.map(({ id, slug }) => [id, slug]))
}

async function removeRules(tx: Tx, organizationId: OrganizationId, id: TargetId): Promise<void> {
  await tx.query
    .deleteFrom('rule')
    .where('organization_id', '=', organizationId)
    .where('target_id', '=', id)
    .execute()
}

async function rulesOf(
  db: Db,
  organizationId: OrganizationId,
  targetIds: readonly string[],
): Promise<RuleTable[]> {
  if (targetIds.length === 0) return []
  return await db.query
    .selectFrom('rule')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('target_id', 'in', targetIds)
    .orderBy('target_id')
    .orderBy('position')
    .execute()
}

function columnsOf(target: TargetColumns) {
  return {
    name: target.name,
    upstream: target.upstream,
    credential_header: target.credentialHeader ?? null,
    credential_sealed: target.credentialSealed ?? null,
    settings: JSON.stringify(target.settings),
    otherwise: target.otherwise ?? null,
    disabled_at: target.disabledAt ?? null,
  }
}

function fromRow(row: TargetTable, rules: readonly RuleTable[]): TargetRecord {
  return {
    id: row.id as TargetId,
    organizationId: row.organization_id as OrganizationId,
    slug: row.slug,
    name: row.name,
    upstream: row.upstream,
    credentialHeader: row.credential_header ?? undefined,
    credentialSealed: row.credential_sealed ?? undefined,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    otherwise: (row.otherwise as TargetRecord['otherwise'] | null) ?? undefined,
    disabledAt: row.disabled_at ?? undefined,
    createdAt: row.created_at,
    version: row.version,
    rules: rules.map(ruleFromRow),
  }
}

function ruleFromRow(row: RuleTable): RuleRecord {
  return {
    id: row.id as RuleId,
    effect: row.effect as RuleRecord['effect'],
    methods: row.methods === '' ? [] : row.methods.split(','),
    path: row.path,
    trial: row.trial === 1,
  }
}
