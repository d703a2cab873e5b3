#!/usr/bin/env node
// Any Node from 18 on starts this file; the product itself runs from source under Node 24 or later.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import * as module from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findRuntime } from './node-runtime.js'

const here = fileURLToPath(import.meta.url)
const [major, minor] = process.versions.node.split('.').map(Number)

await endWithWhoeverStartedUs()
if (major > 24 || (major === 24 && minor >= 21)) {
  if (here.includes(`${sep}node_modules${sep}`)) stripTypesHere()
  readKyselyAsOneFile()
  // The next start neither strips nor compiles: half the time and 40 MB less. Beside the code, where nobody else may
  // write (a shared folder such as /tmp would let others put code of theirs in our place); without a right to write
  // there is simply no cache.
  const cache = join(dirname(here), '..', 'node_modules', '.cache', 'intercept')
  module.enableCompileCache?.(cache)
  // A thread looks for the cache here. Without it, each one loads Node's TypeScript compiler (17 MB) to read one file.
  process.env.NODE_COMPILE_CACHE ??= cache
  const { run } = await import('../src/cli/index.ts')
  await run(process.argv.slice(2))
} else {
  relaunch()
}

/** Runs the same command under the Node that npm installed with us; our exit is the child's. */
function relaunch() {
  let node
  try {
    node = findRuntime(here)
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(node, [here, ...process.argv.slice(2)], { stdio })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('error', (error) => {
    console.error(`Intercept could not start ${node}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/**
 * npx and npm do not pass SIGTERM on, and nobody can pass SIGKILL on: without this a node whose launcher is gone would
 * run on unnoticed. It gets the SIGTERM that its launcher got, drains and ends.
 */
async function endWithWhoeverStartedUs() {
  const end = () => process.kill(process.pid, 'SIGTERM')
  // Workers have a supervisor that does this itself.
  if (process.channel && (await import('node:cluster')).default.isPrimary) {
    process.once('disconnect', end)
    process.channel.unref()
  }
  if (!process.env.npm_execpath) return
  const before = launchers()
  const timer = setInterval(() => {
    if (launchers() === before) return
    clearInterval(timer)
    end()
  }, 500)
  timer.unref()
}

/** Our parent, and above a shell that npm may have put between, its parent too. */
function launchers() {
  const parent = statusOf(process.ppid)
  return /^(da|ba|a|z|k)?sh$|^busybox$/.test(parent.name)
    ? `${process.ppid} ${parent.parentId}`
    : String(process.ppid)
}

/** What Linux says of a process; elsewhere nothing. */
function statusOf(id) {
  try {
    const text = readFileSync(`/proc/${id}/status`, 'utf8')
    return {
      name: /^Name:\s*(.*)$/m.exec(text)?.[1] ?? '',
      parentId: /^PPid:\s*(\d+)$/m.exec(text)?.[1],
    }
  } catch {
    return { name: '', parentId: undefined }
  }
}

/** Saves a third of a command's start where `deploy/prepare.ts` or `npm run pack` made the file. */
function readKyselyAsOneFile() {
  const { dependencies } = JSON.parse(readFileSync(join(dirname(here), '..', 'package.json')))
  const file = join(dirname(here), 'bundled', `kysely-${dependencies.kysely}.js`)
  if (!existsSync(file)) return
  const url = pathToFileURL(file).href
  module.registerHooks({
    resolve: (name, context, next) =>
      name === 'kysely' ? { url, format: 'module', shortCircuit: true } : next(name, context),
  })
}

/**
 * Node strips types everywhere but below node_modules, where a package packed from source lies
 * (`npm run pack` makes one that needs none of this).
 */
function stripTypesHere() {
  const own = new URL('../src/', import.meta.url).href
  const emitWarning = process.emitWarning.bind(process)
  // Node calls the function experimental each time; people who run a command need not know.
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).includes('stripTypeScriptTypes')) emitWarning(warning, ...more)
  }
  module.registerHooks({
    load(url, context, nextLoad) {
      if (!url.startsWith(own) || !url.endsWith('.ts')) return nextLoad(url, context)
      const source = module.stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'))
      return { format: 'module', source, shortCircuit: true }
    },
  })
}
