// Fetches the Node that Intercept runs on, once, where the system's is too old. Plain JavaScript for Node 18 and later.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const fetchWithinMs = 300_000

/** The runtime's version and, per platform, its package with the digest that npm must find. */
const runtime = JSON.parse(readFileSync(new URL('./node-runtime.json', import.meta.url), 'utf8'))

/**
 * Returns the path of a Node that is new enough: one that npm installed beside us, one fetched earlier, or one fetched
 * now. Throws an Error with one sentence when there is none for this platform or it cannot be fetched.
 */
export function findRuntime(from) {
  return installedBeside(from) ?? fetchedEarlier() ?? fetchNow()
}

/** Looks upward, so that it is found from a checkout and from a folder that depends on us. */
function installedBeside(from) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '.bin', 'node')
    if (existsSync(candidate)) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

/** The user's own cache: nobody else may put a program there. */
function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(base, 'interceptd', `node-${runtime.version}`)
}

function fetchedEarlier() {
  const candidate = join(cacheFolder(), 'node_modules', '.bin', 'node')
  return existsSync(candidate) ? candidate : undefined
}

function fetchNow() {
  const found = runtime.packages[`${process.platform}-${process.arch}`]
  const need = `Intercept needs Node ${runtime.version} or later (this is ${process.versions.node})`
  if (!found) throw new Error(`${need}; install Node 24 and try again.`)
  console.error(`${need}. Fetching it once, about 50 MB …`)
  const parent = dirname(cacheFolder())
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  // Made aside and renamed whole: two starts at once do not see each other's half.
  const folder = mkdtempSync(join(parent, 'fetching-'))
  try {
    install(folder, found, need)
    if (!existsSync(cacheFolder())) renameSync(folder, cacheFolder())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return fetchedEarlier()
}

/** npm checks the digest in the lock file before it unpacks anything. */
function install(folder, { name, integrity }, need) {
  const { version } = runtime
  const root = { name: 'intercept-node', version, dependencies: { [name]: version } }
  const entry = { version, integrity, bin: { node: 'bin/node' } }
  const packages = { '': root, [`node_modules/${name}`]: entry }
  const lock = { name: root.name, version, lockfileVersion: 3, requires: true, packages }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(root))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
  const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const own = process.env.npm_execpath
  const [program, first] = own ? [process.execPath, [own]] : ['npm', []]
  const options = { cwd: folder, encoding: 'utf8', timeout: fetchWithinMs }
  const done = spawnSync(program, [...first, ...words], options)
  if (done.status === 0) return
  const reason = (done.stderr || done.error?.message || 'npm failed').trim().split('\n')[0]
  throw new Error(`${need}, and npm could not fetch it: ${reason} Install Node 24 and try again.`)
}
