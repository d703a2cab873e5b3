// Downloads the Node that Intercept needs, if the system's Node is too old. This code runs under Node 18 and later.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const fetchWithinMs = 300_000
const versionWithinMs = 10_000

/** The version of Node, and for each platform the npm package with its integrity digest. */
const runtime = JSON.parse(readFileSync(new URL('./node-runtime.json', import.meta.url), 'utf8'))

/** Whether Intercept runs under a version of Node: the one that is downloaded, or a later minor or major version. */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = runtime.version.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/**
 * Returns the path of a Node that is new enough: one that npm installed next to us, one downloaded earlier, or one
 * downloaded now. Throws an error with a one-sentence message if there is none for this platform or the download fails.
 */
export function findRuntime(from) {
  return installedBeside(from) ?? fetchedEarlier() ?? fetchNow()
}

/**
 * Returns the nearest Node that is new enough and that npm installed in a `node_modules` of the folder of `from` or of a
 * parent folder. This finds it in a checkout and in a project that depends on Intercept. A project may also depend on an
 * older Node; Intercept, started under that one, would look for another Node again, without end. Returns undefined if
 * there is none.
 */
function installedBeside(from) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '.bin', 'node')
    if (existsSync(candidate) && isNewEnough(versionOf(candidate))) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

/**
 * Returns a Node's version: the one of its npm package if it is in one, otherwise what it says itself, which takes as
 * long as starting it. Empty if it doesn't run or doesn't answer.
 */
function versionOf(node) {
  try {
    const file = join(dirname(realpathSync(node)), '..', 'package.json')
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'))
    if (/^node(-|$)/.test(name) && typeof version === 'string') return version
  } catch {
    // It is in no package.
  }
  const asked = spawnSync(node, ['--version'], { encoding: 'utf8', timeout: versionWithinMs })
  return /^v(\d+\.\d+\.\d+)/.exec(asked.stdout ?? '')?.[1] ?? ''
}

/** Returns the folder for the downloaded Node. It is in the user's own cache, where nobody else can put a program. */
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
  // Node is installed in a temporary folder, which is then renamed, so that a simultaneous start never sees a partial
  // installation.
  const folder = mkdtempSync(join(parent, 'fetching-'))
  try {
    install(folder, found, need)
    if (!existsSync(cacheFolder())) renameSync(folder, cacheFolder())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return fetchedEarlier()
}

/** Installs the package with `npm ci`, which verifies the digest in the lock file before unpacking anything. */
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
