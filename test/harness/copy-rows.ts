import pg from 'pg'

/** Replaces all rows of the database at `toUrl` with those of the database at `fromUrl`, which has the same schema. */
export async function copyRows(fromUrl: string, toUrl: string): Promise<void> {
  const from = new pg.Client(fromUrl)
  const to = new pg.Client(toUrl)
  await Promise.all([from.connect(), to.connect()])
  try {
    await from.query('begin isolation level repeatable read read only')
    await to.query('begin')
    // Disables foreign keys, so that tables can be copied in any order.
    await to.query('set local session_replication_role = replica')
    const tables = await tablesOf(from)
    await to.query(`truncate ${tables.join(', ')}`)
    for (const table of tables) await copyTable(table, from, to)
    await to.query('commit')
  } finally {
    await Promise.all([from.end(), to.end()])
  }
}

/** Lists all tables except partitions, whose rows the parent table includes. */
async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I', relname) as name from pg_class
    where relkind in ('r', 'p') and not relispartition
      and relnamespace = 'public'::regnamespace order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function copyTable(table: string, from: pg.Client, to: pg.Client): Promise<void> {
  const { rows } = await from.query<{ all: string }>(
    `select coalesce(json_agg(row), '[]')::text as all from ${table} as row`,
  )
  await to.query(
    `insert into ${table} overriding system value
    select * from json_populate_recordset(null::${table}, $1::json)`,
    [rows[0]?.all ?? '[]'],
  )
  const numbered = await to.query<{ name: string; sequence: string }>(
    `select column_name as name, pg_get_serial_sequence($1, column_name) as sequence
    from information_schema.columns
    where table_schema = 'public' and format('%I', table_name) = $1 and is_identity = 'YES'`,
    [table],
  )
  for (const { name, sequence } of numbered.rows) {
    await to.query(
      `select setval('${sequence}', (select coalesce(max(${name}), 0) + 1 from ${table}), false)`,
    )
  }
}
