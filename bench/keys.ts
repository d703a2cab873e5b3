// Identify at many keys: CPU µs per call, remembered and not, with the memory that remembering takes.
// `node bench/keys.ts [keys]` (1,000,000 by default); SQLite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyring, readKey, schemes } from '../src/access/index.ts'
import { systemClock } from '../src/clock.ts'
import { createId, type OrganizationId } from '../src/ids.ts'
import { digest, mintCredential } from '../src/secrets/index.ts'
import { openStore, organizations, type Store } from '../src/store/index.ts'

const total = Number(process.argv[2] ?? 1_000_000)
const probes = Math.min(total, 100_000)
const rowsInCommit = 500
const enabledSchemes = ['x-api-key', 'bearer'] as const
const folder = mkdtempSync(join(tmpdir(), 'intercept-keys-'))

try {
  await using store = await openStore({ folder, clock: systemClock, isNode: false })
  const organizationId = createId('org')
  await store.transaction(async (tx) => {
    await organizations.insert(tx, {
      id: organizationId,
      slug: 'bench',
      name: 'Bench',
      plan: 'standard',
    })
  })
  const secrets = await fill(store, organizationId)
  const keyring = createKeyring({ store, clock: systemClock, enabledSchemes, capacity: total })
  console.log(`${total} keys, ${probes} of them asked for`)

  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  await report('not remembered (SQLite)', secrets, async (text) => {
    await keyring.identify(presented(text))
  })
  globalThis.gc?.()
  const each = (process.memoryUsage().heapUsed - before) / keyring.size
  await report('remembered', secrets, async (text) => {
    await keyring.identify(presented(text))
  })
  console.log(
    `  memory per remembered key  ${Math.round(each)} B (${keyring.size} remembered${globalThis.gc === undefined ? '; run with --expose-gc for an exact figure' : ''})`,
  )
  await report('malformed, refused by its shape', secrets, async (text) => {
    try {
      presented(`${text.slice(0, -1)}!`)
    } catch {
      // The refusal is what is measured.
    }
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function presented(text: string) {
  return readKey({ xApiKey: [text], authorization: [] }, enabledSchemes)
}

async function report(
  name: string,
  secrets: readonly string[],
  ask: (text: string) => Promise<void>,
): Promise<void> {
  const cpu = process.cpuUsage()
  for (const [at, text] of secrets.entries()) {
    await ask(text)
    // The change feed is read between two events; a process that never waits trusts nothing it remembers.
    if (at % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const { user, system } = process.cpuUsage(cpu)
  console.log(`  ${name.padEnd(34)} ${((user + system) / secrets.length).toFixed(2)} µs CPU`)
}

/** Issues the keys as rows, and gives back the secrets of some of them, spread over all. */
async function fill(store: Store, organizationId: OrganizationId): Promise<string[]> {
  const secrets: string[] = []
  const every = Math.floor(total / probes)
  for (let at = 0; at < total; at += rowsInCommit) {
    const batch = Array.from({ length: Math.min(rowsInCommit, total - at) }, (_, within) => {
      const { secret, lookup } = mintCredential(schemes['x-api-key'].prefix)
      if ((at + within) % every === 0) secrets.push(secret.reveal())
      return { id: createId('key'), secret, lookup }
    })
    await store.transaction(async (tx) => {
      await tx.query
        .insertInto('api_key')
        .values(
          batch.map(({ id }) => ({
            ...{ id, organization_id: organizationId, name: 'bench', scheme: 'x-api-key' },
            ...{ created_at: tx.now, created_by: null, personal_user_id: null, grants: null },
            ...{ cidrs: null, rate_limit: null, quota: null, expires_at: null, revoked_at: null },
            ...{ revoked_by: null, suspended_at: null, expiry_announced_at: null },
            ...{ last_used_at: null, last_used_address: null, last_used_agent: null },
            ...{ last_used_target_id: null, version: 1 },
          })),
        )
        .execute()
      await tx.query
        .insertInto('key_secret')
        .values(
          batch.map(({ id, secret, lookup }) => ({
            ...{ digest: digest(secret.reveal()), key_id: id, organization_id: organizationId },
            ...{ lookup, hint: secret.hint, created_at: tx.now, valid_until: null },
            ...{ last_used_at: null, last_used_address: null, last_used_agent: null },
          })),
        )
        .execute()
    })
  }
  return secrets.slice(0, probes)
}
