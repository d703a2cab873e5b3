import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  existsSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const start = 'intercept-tests-'
const leastFreeBytes = 4 * 1024 ** 3

/**
 * Gives the tests of this run a temporary folder in memory, if possible: creating the files of their hundreds of
 * databases on a disk would take longer than the tests themselves. What later runs need stays on the disk. The folder
 * is deleted when this process exits.
 */
export function useRunFolders(root: string): void {
  process.env['TEST_CACHE_FOLDER'] ??= tmpdir()
  // Each test file is a process that loads hundreds of modules; with cached compiled code, loading takes half the time.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'tests')
  if (!isUsable()) return
  removeAbandoned()
  const folder = mkdtempSync(join(memory, `${start}${process.pid}-`))
  // A database server runs as another user, who must be able to enter the folder.
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
}

/** Whether tests can use the folder in memory: in containers it is often small, or no programs can start from it. */
function isUsable(): boolean {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    if (bavail * bsize < leastFreeBytes) return false
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    return mounts.some((line) => line.includes(` ${memory} tmpfs `) && !/\bnoexec\b/.test(line))
  } catch {
    return false
  }
}

/** Deletes the folders of test runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(start)) continue
    const [pid = ''] = name.slice(start.length).split('-')
    if (existsSync(`/proc/${pid}`)) continue
    rmSync(join(memory, name), { recursive: true, force: true })
  }
}
