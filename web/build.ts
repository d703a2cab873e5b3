// Usage: node web/build.ts. Builds the dashboard into web/dist; two builds at the same time don't disturb each other.
// Then bundles Kysely's hundreds of files into one, which the launcher loads instead, because loading them separately
// takes a third of a command's startup time.
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { build } from 'vite'
import { buildKyselyFile } from '../deploy/kysely-file.ts'

const dist = join(import.meta.dirname, 'dist')
const aside = join(import.meta.dirname, `dist.${process.pid}-${threadId}`)
const old = `${aside}-old`

await build({ root: import.meta.dirname, logLevel: 'warn', build: { outDir: aside } })
if (existsSync(dist)) await rename(dist, old).catch(() => undefined)
await rename(aside, dist).catch(() => rm(aside, { recursive: true }))
await rm(old, { recursive: true, force: true })

await buildKyselyFile()
