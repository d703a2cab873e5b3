import { sql, type RawBuilder } from 'kysely'
import type { Engine } from '../../db/db.ts'

/**
 * Callers must fold the compared value like the stored attributes, which keep their letter case only where an attribute
 * is case-exact.
 */
export type DirectoryOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le'

/** Columns that a condition or a sort order may name. */
export type DirectoryColumn =
  | 'id'
  | 'user_name_key'
  | 'display_name_key'
  | 'external_id'
  | 'active'
  | 'created_at'
  | 'modified_at'
  | 'version'

/**
 * The field to compare: a column, a path in the folded attributes, or a part of the list element that `some` examines.
 */
export type DirectoryField =
  | { readonly column: DirectoryColumn }
  | { readonly path: readonly string[]; readonly type: 'text' | 'number' }
  | { readonly part: string; readonly type: 'text' | 'number' }

/** A condition on users or groups of a directory that compiles to SQL on both engines. */
export type DirectoryCondition =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly DirectoryCondition[] }
  | { readonly kind: 'not'; readonly term: DirectoryCondition }
  | { readonly kind: 'constant'; readonly holds: boolean }
  | {
      readonly kind: 'compare'
      readonly field: DirectoryField
      readonly operator: DirectoryOperator
      readonly value: string | number
    }
  | { readonly kind: 'present'; readonly field: DirectoryField }
  /**
   * At least one element of a list in the folded attributes matches; without `where`, the list only has to be
   * non-empty.
   */
  | {
      readonly kind: 'some'
      readonly path: readonly string[]
      readonly where: DirectoryCondition | undefined
    }
  /** The user has this e-mail address; the index on addresses finds it. */
  | { readonly kind: 'email'; readonly value: string }
  /** At least one of the user's groups, or of the group's members, matches; without `where`, one only has to exist. */
  | { readonly kind: 'related'; readonly where: DirectoryCondition | undefined }

export type DirectoryTableName = 'directory_user' | 'directory_group'

type Sql = RawBuilder<unknown>

interface On<Condition extends DirectoryCondition> {
  readonly table: DirectoryTableName
  readonly organizationId: string
  readonly condition: Condition
}
const lastLetter = '\u{10ffff}'

/** Compiles a condition to SQL on a table; every value becomes a parameter. */
export function conditionSql(
  engine: Engine,
  { table, organizationId, condition }: On<DirectoryCondition>,
): Sql {
  const inner = (each: DirectoryCondition): Sql =>
    conditionSql(engine, { table, organizationId, condition: each })
  switch (condition.kind) {
    case 'and':
    case 'or':
      return sql`(${sql.join(condition.terms.map(inner), sql.raw(` ${condition.kind} `))})`
    case 'not':
      // NULL counts as false: a user without a title does not have the title "x".
      return sql`((${inner(condition.term)}) is not true)`
    case 'constant':
      return condition.holds ? sql`1 = 1` : sql`1 = 0`
    case 'compare':
      return compareSql(engine, table, condition)
    case 'present':
      return sql`${fieldSql(engine, table, condition.field)} is not null`
    case 'some':
      return someSql(engine, { table, organizationId, condition })
    case 'email':
      return sql`${sql.table(table)}.id in (select directory_user_id from directory_email
        where directory_email.organization_id = ${organizationId} and value_key = ${condition.value})`
    case 'related':
      return relatedSql(engine, { table, organizationId, condition })
    default:
      return condition satisfies never
  }
}

/** Compiles a field to SQL; a missing attribute is NULL. */
export function fieldSql(engine: Engine, table: DirectoryTableName, field: DirectoryField): Sql {
  if ('column' in field) {
    const column = sql`${sql.table(table)}.${sql.ref(field.column)}`
    // Versions are compared in the form of an entity tag, which is what clients see.
    return field.column === 'version' ? sql`('W/"' || ${column} || '"')` : column
  }
  if ('part' in field) return partSql(engine, field)
  const { path, type } = field
  if (engine === 'sqlite') return sql`json_extract(${sql.table(table)}.folded, ${jsonPath(path)})`
  const text = sql`(${sql.table(table)}.folded #>> ${textArray(path)}::text[])`
  return type === 'number' ? sql`${text}::bigint` : sql`${text} collate "C"`
}

/**
 * Whether an index on an identifier finds the few matching rows. If so, the planner must be kept from using the index
 * on the sort order instead.
 */
export function isAnchored(condition: DirectoryCondition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.terms.some(isAnchored)
    case 'or':
      return condition.terms.every(isAnchored)
    case 'email':
      return true
    case 'compare':
      return (
        condition.operator === 'eq' &&
        'column' in condition.field &&
        anchors.has(condition.field.column)
      )
    default:
      return false
  }
}

const anchors = new Set<DirectoryColumn>(['id', 'user_name_key', 'display_name_key', 'external_id'])

function compareSql(
  engine: Engine,
  table: DirectoryTableName,
  condition: Extract<DirectoryCondition, { kind: 'compare' }>,
): Sql {
  const left = fieldSql(engine, table, condition.field)
  const { operator, value } = condition
  const length = Array.from(String(value)).length
  switch (operator) {
    case 'eq':
      return sql`${left} = ${value}`
    case 'ne':
      return sql`${left} is distinct from ${value}`
    case 'co':
      return engine === 'sqlite'
        ? sql`instr(${left}, ${value}) > 0`
        : sql`strpos(${left}, ${value}) > 0`
    case 'sw':
      // A prefix is compared as a range, because an index can serve that.
      return sql`(${left} >= ${value} and ${left} < ${`${String(value)}${lastLetter}`})`
    case 'ew':
      return engine === 'sqlite'
        ? sql`substr(${left}, ${-length}) = ${value}`
        : sql`right(${left}, ${sql.lit(length)}) = ${value}`
    case 'gt':
      return sql`${left} > ${value}`
    case 'ge':
      return sql`${left} >= ${value}`
    case 'lt':
      return sql`${left} < ${value}`
    case 'le':
      return sql`${left} <= ${value}`
    default:
      return operator satisfies never
  }
}

function someSql(
  engine: Engine,
  { table, organizationId, condition }: On<Extract<DirectoryCondition, { kind: 'some' }>>,
): Sql {
  const where =
    condition.where === undefined
      ? sql`1 = 1`
      : conditionSql(engine, { table, organizationId, condition: condition.where })
  return engine === 'sqlite'
    ? sql`exists (select 1 from json_each(${sql.table(table)}.folded, ${jsonPath(condition.path)}) as item where ${where})`
    : sql`exists (select 1 from jsonb_array_elements(${sql.table(table)}.folded #> ${textArray(condition.path)}::text[]) as item(value) where ${where})`
}

// Compiles a part of the element that `some` examines; an empty name means the element itself.
function partSql(engine: Engine, field: { part: string; type: 'text' | 'number' }): Sql {
  if (engine === 'sqlite') {
    return field.part === ''
      ? sql`item.value`
      : sql`json_extract(item.value, ${jsonPath([field.part])})`
  }
  const text =
    field.part === '' ? sql`(item.value #>> '{}')` : sql`(item.value ->> ${field.part}::text)`
  return field.type === 'number' ? sql`${text}::bigint` : sql`${text} collate "C"`
}

function relatedSql(
  engine: Engine,
  { table, organizationId, condition }: On<Extract<DirectoryCondition, { kind: 'related' }>>,
): Sql {
  const isUser = table === 'directory_user'
  const other = isUser ? 'directory_group' : 'directory_user'
  const where =
    condition.where === undefined
      ? sql`1 = 1`
      : conditionSql(engine, { table: other, organizationId, condition: condition.where })
  return isUser
    ? sql`exists (select 1 from directory_member inner join directory_group on directory_group.id = directory_member.group_id
        where directory_member.directory_user_id = directory_user.id and ${where})`
    : sql`exists (select 1 from directory_member inner join directory_user on directory_user.id = directory_member.directory_user_id
        where directory_member.group_id = directory_group.id and ${where})`
}

// Returns SQLite's JSON path to an attribute. It can't carry SQL: its names come from the schema, not from the request,
// and the path is passed as a parameter.
function jsonPath(path: readonly string[]): string {
  return `$${path.map((name) => `."${name}"`).join('')}`
}

function textArray(path: readonly string[]): string {
  return `{${path.map((name) => `"${name}"`).join(',')}}`
}
