// npm run bench -- commands [rounds]: measures the CPU time and the duration of `key revoke` and `key list`, compared
// with those of a Node process that does nothing.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The kernel counts the CPU time of ended children in hundredths of a second.
const msPerTick = 10
const rounds = Number(process.argv[2] ?? 15)
const launcher = join(import.meta.dirname, '..', 'bin', 'intercept.js')
const folder = mkdtempSync(join(tmpdir(), 'intercept-commands-'))

class Spent {
  readonly name: string
  #cpuMs = 0
  readonly #wallMs: number[] = []

  constructor(name: string) {
    this.name = name
  }

  run(...words: string[]): string {
    const cpuBefore = childrenMs()
    const startedAt = performance.now()
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], DATA_DIR: folder },
    })
    this.#wallMs.push(performance.now() - startedAt)
    this.#cpuMs += childrenMs() - cpuBefore
    if (status !== 0) throw new Error(stderr)
    return stdout
  }

  print(): void {
    const wallMs = this.#wallMs.toSorted((a, b) => a - b)
    const median = wallMs[Math.floor(wallMs.length / 2)] ?? 0
    const cpu = (this.#cpuMs / wallMs.length / 1000).toFixed(3)
    console.log(`  ${this.name.padEnd(24)} ${cpu} s CPU   ${(median / 1000).toFixed(3)} s in all`)
  }
}

/** The CPU milliseconds of all children that have ended (fields 16 and 17 of /proc/self/stat; see proc(5)). */
function childrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * msPerTick
}

try {
  const setUp = new Spent('setting up')
  setUp.run(launcher, 'org', 'create', 'acme')
  const bare = new Spent('a Node that does nothing')
  const revoke = new Spent('intercept key revoke')
  const list = new Spent('intercept key list')
  for (let round = 0; round < rounds; round++) {
    const issued = setUp.run(launcher, 'key', 'issue', 'acme', '--name', 'x', '--json')
    bare.run('-e', '0')
    revoke.run(launcher, 'key', 'revoke', (JSON.parse(issued) as { id: string }).id)
    list.run(launcher, 'key', 'list', 'acme')
  }
  console.log(`${rounds} rounds, interleaved, on SQLite; mean of the CPU time, median of the time`)
  for (const spent of [bare, revoke, list]) spent.print()
} finally {
  rmSync(folder, { recursive: true })
}
