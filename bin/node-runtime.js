// Finds or downloads the Node that Intercept needs. This code runs under Node 18 and later.
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

/** Whether a version of Node is new enough for Intercept. The patch number is ignored. */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = runtime.version.split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

/**
 * Returns the path of a Node that is new enough: one that npm installed next to us, one downloaded earlier, or one
 * downloaded now. Throws if there is none for this platform or the download fails.
 */
export function findRuntime(from) {
  return installedBeside(from) ?? fetchedEarlier() ?? fetchNow()
}

/**
 * Finds the nearest Node that is new enough, in a `node_modules` at or above the folder of `from`. An older Node is
 * skipped: Intercept, started under it, would look for another Node again, without end.
 */
function installedBeside(from) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', '.bin', 'node')
    if (existsSync(candidate) && isNewEnough(versionOf(candidate))) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

/**
 * Returns the version of a Node, or an empty text if the Node doesn't run. The version is read from the Node's npm
 * package where possible, because starting the Node takes longer.
 */
function versionOf(node) {
  try {
    const file = join(dirname(realpathSync(node)), '..', 'package.json')
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'))
    if (/^node(-|$)/.test(name) && typeof version === 'string') return version
  } catch {
    // This Node is in no npm package.
  }
  const asked = spawnSync(node, ['--version'], { encoding: 'utf8', timeout: versionWithinMs })
  return /^v(\d+\.\d+\.\d+)/.exec(asked.stdout ?? '')?.[1] ?? ''
}

/**
 * Returns those of these flags that a Node knows, because it would not start with any other. The Node is asked only if
 * its major version is not the one with which Intercept is tested. `--v8-pool-size` is Node's own flag: all versions
 * that run this code have it.
 */
export function flagsKnownTo(node, flags) {
  const version = node === process.execPath ? process.versions.node : versionOf(node)
  if (flags.length === 0 || majorOf(version) === majorOf(runtime.version)) return flags
  const asked = spawnSync(node, ['--v8-options'], { encoding: 'utf8', timeout: versionWithinMs })
  const known = new Set(asked.stdout?.match(/(?<=^ *--)[a-z0-9-]+/gm))
  const isKnown = (name) => known.has(name) || process.allowedNodeEnvironmentFlags.has(`--${name}`)
  return flags.filter((flag) => isKnown(flag.replace(/^--(no-)?|=.*$/g, '')))
}

function majorOf(version) {
  return version.split('.')[0]
}

/** Returns a folder in the user's own cache, because others could put a program into a shared folder. */
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
  // Installs into a temporary folder and renames it, so that a simultaneous start never sees a partial installation.
  const folder = mkdtempSync(join(parent, 'fetching-'))
  try {
    install(folder, found, need)
    try {
      renameSync(folder, cacheFolder())
    } catch (error) {
      // Another start was faster.
      if (!existsSync(cacheFolder())) throw error
    }
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
