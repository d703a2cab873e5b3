import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { postgresForTests } from './postgres.ts'

test('each call gives an empty database of its own whose url connects', async () => {
  await using one = await postgresForTests()
  await using two = await postgresForTests()
  await one.sql('create table t (n bigint)')
  await assert.rejects(two.sql('select * from t'), /does not exist/)
  const client = new pg.Client({ connectionString: one.url })
  await client.connect()
  const { rows } = await client.query('select current_database() as name')
  await client.end()
  assert.equal(rows[0].name, one.name)
})

test('nothing is left running after kill -9 of the test run', async () => {
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `const { postgresForTests, postgresProcess } = await import(${JSON.stringify(fileURLToPath(new URL('postgres.ts', import.meta.url)))})
     await postgresForTests(); console.log(await postgresProcess()); setInterval(() => {}, 1000)`,
  ])
  const pid = await new Promise<number>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => resolve(Number(String(text).trim())))
    child.stderr.on('data', (text: Buffer) => reject(new Error(String(text))))
  })
  assert.ok(existsSync(`/proc/${pid}`))
  child.kill('SIGKILL')
  const end = Date.now() + 20_000
  while (existsSync(`/proc/${pid}`) && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.ok(!existsSync(`/proc/${pid}`), 'the server stopped by itself')
})
