import type { Compilable, CompiledQuery } from 'kysely'
import type { Db, Engine } from './db.ts'

// The placeholders for the numbers count down from this value. No real limit, time or count is so small.
const firstMark = -9_000_000_000_000_000

/**
 * Returns a function that runs a query with different numbers each time. The query is built only once for each engine,
 * because building costs more than running.
 */
export function keepQuery<const Name extends string, Row>(
  names: readonly Name[],
  build: (db: Db, marks: Readonly<Record<Name, number>>) => Compilable<Row>,
): (db: Db, numbers: Readonly<Record<Name, number>>) => Promise<Row[]> {
  const marks = new Map<unknown, Name>(names.map((name, at) => [firstMark - at, name]))
  const markOf = Object.fromEntries([...marks].map(([mark, name]) => [name, mark])) as Record<
    Name,
    number
  >
  const kept = new Map<Engine, CompiledQuery<Row>>()
  return async (db, numbers) => {
    const query = kept.get(db.engine) ?? build(db, markOf).compile()
    kept.set(db.engine, query)
    const parameters = query.parameters.map((value) => {
      const name = marks.get(value)
      return name === undefined ? value : numbers[name]
    })
    return (await db.query.executeQuery<Row>({ ...query, parameters })).rows
  }
}
