// npm run check: checks the sources without running the product; stops at the first failure.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Step {
  readonly name: string
  /** Describes what is wrong; undefined if nothing is. */
  readonly run: () => string | undefined
}

const root = join(import.meta.dirname, '..')
const bin = join(root, 'node_modules', '.bin')
const stepTimeoutMs = 300_000

const steps: readonly Step[] = [
  { name: 'types', run: () => tool('tsc', ['-p', '.']) },
  { name: 'types of the dashboard', run: checkWebTypes },
  { name: 'lint', run: () => tool('oxlint', ['--type-aware', '--quiet', '--deny-warnings']) },
  { name: 'format', run: () => tool('oxfmt', ['--check', '.']) },
  { name: 'types of the client', run: () => tool('tsc', ['-p', 'packages/client', '--noEmit']) },
  { name: 'generated files', run: () => tool('node', ['packages/generate.ts', '--check']) },
  { name: 'unused code', run: checkUnused },
  { name: 'lock file', run: checkLockFile },
  {
    name: 'architecture',
    run: () => tool('node', ['--test', '--test-reporter=dot', 'test/architecture.test.ts']),
  },
]

for (const step of steps) {
  const startedAt = performance.now()
  const wrong = step.run()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${wrong === undefined ? 'ok    ' : 'WRONG '} ${step.name} (${seconds} s)`)
  if (wrong !== undefined) {
    console.log(wrong)
    process.exit(1)
  }
}

function tool(name: string, args: readonly string[]): string | undefined {
  const done = spawnSync(join(bin, name), args, {
    cwd: root,
    encoding: 'utf8',
    timeout: stepTimeoutMs,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
  })
  if (done.status === 0) return undefined
  const ended = done.error?.message ?? done.signal ?? `exit ${done.status}`
  return `${done.stdout ?? ''}${done.stderr ?? ''}${name}: ${ended}`
}

function checkWebTypes(): string | undefined {
  return existsSync(join(root, 'web', 'tsconfig.json')) ? tool('tsc', ['-p', 'web']) : undefined
}

/** Finds unused files, exports, types and dependencies; knip.json lists what knip cannot see. */
function checkUnused(): string | undefined {
  return tool('knip', ['--no-progress', '--treat-config-hints-as-errors'])
}

/**
 * Finds entries of the lock file that name a registry, and optional packages that have no entry: npm 11 and later
 * refuse a file with such gaps, although the install that wrote it succeeded.
 */
function checkLockFile(): string | undefined {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<
      string,
      { optionalDependencies?: Record<string, string>; resolved?: string; link?: boolean }
    >
  }
  const wrong: string[] = []
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.resolved !== undefined) wrong.push(`${path} names the registry it came from`)
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      if (!isLocked(lock.packages, path, name)) wrong.push(`${path || 'package.json'} → ${name}`)
    }
  }
  return wrong.length === 0
    ? undefined
    : `package-lock.json is not complete (npm ci would fail):\n  ${wrong.join('\n  ')}`
}

/** Looks for an entry as npm does: in the package's own node_modules, then in each folder above. */
function isLocked(packages: Record<string, unknown>, from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (candidate in packages) return true
    if (folder === '') return false
  }
}
