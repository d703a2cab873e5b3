// npm test [-- part-of-a-path …] [-- --name pattern]: all tests, or those whose path contains one of the parts.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { useRunFolders } from './harness/run-folders.ts'

const root = join(import.meta.dirname, '..')
// These limits end what hangs. They are several times what a quiet machine with two cores needs, because a machine that
// others share can be three times as slow.
const testTimeoutMs = 4 * 60_000
/** A file that leaks a timer or a socket would never end, so it is killed, which counts as a failure. */
const fileTimeoutMs = 10 * 60_000
const runTimeoutMs = 45 * 60_000
/** If a run of the whole suite finds fewer tests than this, some have been lost; raise it as the suite grows. */
const fewestTests = 1500

const { values, positionals } = parseArgs({
  options: { name: { type: 'string' } },
  allowPositionals: true,
})
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
const wholeSuite = positionals.length === 0 && values.name === undefined
const runDeadline = AbortSignal.timeout(runTimeoutMs)
const counts = { passed: 0, failed: 0, skipped: 0 }

useRunFolders(root)
buildDashboard()
const waiting = [...files]
// In a run of the whole suite, files that failed next to others run a second time, alone, at the end. A file that
// passes only then is flaky: it is listed and must be fixed.
const again: string[] = []
const unsteady: string[] = []
// Tests often wait for browsers and processes, so two files more than there are cores run at once, but at most six.
await Promise.all(Array.from({ length: Math.min(6, availableParallelism() + 2) }, runFiles))
for (const file of again) await runFile(file, true)
if (unsteady.length > 0) console.log(`Passed only alone, at the second run: ${unsteady.join(', ')}`)

if (wholeSuite && counts.passed + counts.failed < fewestTests) {
  console.log(`Only ${counts.passed + counts.failed} tests ran; at least ${fewestTests} exist.`)
  counts.failed++
}
if (files.length === 0) {
  console.log(`No test file matches ${positionals.join(' ')}.`)
  counts.failed++
}
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exit(counts.failed === 0 ? 0 : 1)

/** Builds the dashboard once after a fresh checkout, before many files start nodes that would each build it. */
function buildDashboard(): void {
  if (existsSync(join(root, 'web', 'dist', 'index.html'))) return
  const built = spawnSync(process.execPath, [join(root, 'web', 'build.ts')], { encoding: 'utf8' })
  if (built.status !== 0) console.log(`The dashboard could not be built: ${built.stderr}`)
}

async function runFiles(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    if (runDeadline.aborted) {
      console.log(`WRONG  ${file}: not run, the whole run is over its ${runTimeoutMs / 60_000} min`)
      counts.failed++
    } else {
      await runFile(file)
    }
  }
}

/**
 * Returns a file's sort key: its path, except for the tortures, which take longest and must not start last. Those with
 * several nodes mostly wait, so they start first; the others start after the tests of the dashboard.
 */
function placeOf(file: string): string {
  if (file === join('test', 'torture-of-nodes.test.ts')) return ''
  return file === join('test', 'torture.test.ts') ? join('test', 'journeys', 'demo') : file
}

/** Runs a file in its own process. Its report is printed in full if a test failed or if it is the only file. */
async function runFile(file: string, isSecond = false): Promise<void> {
  const events = run({
    files: [join(root, file)],
    timeout: testTimeoutMs,
    signal: AbortSignal.any([runDeadline, AbortSignal.timeout(fileTimeoutMs)]),
    ...(values.name === undefined ? {} : { testNamePatterns: [values.name] }),
  })
  const seen = { passed: 0, failed: 0, skipped: 0, ms: 0 }
  events.on('test:summary', ({ file: part, counts: found, duration_ms: ms }) => {
    if (part !== undefined) return
    seen.passed = found.passed
    seen.skipped = found.skipped + found.todo
    seen.failed = found.tests - seen.passed - seen.skipped
    seen.ms = ms
  })
  let report = ''
  for await (const piece of events.compose(new spec())) report += String(piece)

  if (seen.failed > 0 && wholeSuite && !isSecond) {
    console.log(report)
    console.log(
      `AGAIN  ${relative('.', file)}: ${seen.failed} failed beside other files; once more, alone`,
    )
    again.push(file)
    return
  }
  if (isSecond && seen.failed === 0) unsteady.push(file)
  counts.passed += seen.passed
  counts.failed += seen.failed
  counts.skipped += seen.skipped
  if (seen.failed > 0 || files.length === 1) console.log(report)
  const verdict = seen.failed > 0 ? 'WRONG ' : 'ok    '
  const skipped = seen.skipped > 0 ? `, ${seen.skipped} skipped` : ''
  console.log(
    `${verdict} ${relative('.', file)}: ${seen.passed} of ${seen.passed + seen.failed}${skipped} (${(seen.ms / 1000).toFixed(1)} s)`,
  )
}
