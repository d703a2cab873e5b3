#!/usr/bin/env node
// Starts under any Node from version 18; the product itself needs the version in node-runtime.json or a later one.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import * as module from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findRuntime, flagsKnownTo, isNewEnough } from './node-runtime.js'
import { heapSettings, serveFlags } from './serve-flags.js'

const here = fileURLToPath(import.meta.url)

await endWithWhoeverStartedUs()
if (isNewEnough(process.versions.node)) {
  if (process.argv[2] === 'serve') startAgain()
  if (here.includes(`${sep}node_modules${sep}`)) stripTypesHere()
  readKyselyAsOneFile()
  // Keeping compiled code halves the time of later starts. The cache is next to our code and not in a shared folder
  // such as /tmp, where others could replace our code with theirs.
  const cache = join(dirname(here), '..', 'node_modules', '.cache', 'intercept')
  module.enableCompileCache?.(cache)
  // Worker threads use the cache only if this is set. Otherwise, each loads Node's TypeScript compiler (17 MB).
  process.env.NODE_COMPILE_CACHE ??= cache
  const { run } = await import('../src/cli/index.ts')
  await run(process.argv.slice(2))
} else {
  relaunch()
}

/** Runs the same command under a Node that is new enough, and exits with the status or signal of that process. */
function relaunch() {
  let node
  try {
    node = findRuntime(here)
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  const flags = missingFlags(node)
  const env = { ...heapSettings, ...process.env }
  const child = spawn(node, [...flags, here, ...process.argv.slice(2)], { stdio, env })
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
 * If one of our V8 flags is missing, replaces this process with one that has them all and `heapSettings`. A process with
 * a channel to its parent is left alone, because it would lose the channel.
 */
function startAgain() {
  if (process.channel || !process.execve) return
  try {
    const flags = missingFlags(process.execPath)
    if (flags.length === 0) return
    const words = [process.execPath, ...process.execArgv, ...flags, ...process.argv.slice(1)]
    process.execve(process.execPath, words, { ...heapSettings, ...process.env })
  } catch {
    // Starting or replacing a process may be forbidden, for instance by Node's permission model.
  }
}

/** Returns those of our flags that this Node knows and that neither the command line nor NODE_OPTIONS sets. */
function missingFlags(node) {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-')
  const isGiven = (name) => new RegExp(`--(no-)?${name}(?![\\w-])`).test(given)
  const missing = serveFlags.filter((flag) => !isGiven(flag.replace(/^--(no-)?|=.*$/g, '')))
  return flagsKnownTo(node, missing)
}

/**
 * Sends SIGTERM to this process once its launcher is gone: npm, or a parent with a channel to this process. npx and npm
 * don't forward SIGTERM, so without this a node would keep running unnoticed.
 */
async function endWithWhoeverStartedUs() {
  const end = () => process.kill(process.pid, 'SIGTERM')
  // The channel of a worker is not watched here, because `serve` watches it.
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

/** Identifies our parent process and, if that is a shell (npm may start one), the parent of the shell. */
function launchers() {
  const parent = statusOf(process.ppid)
  return /^(da|ba|a|z|k)?sh$|^busybox$/.test(parent.name)
    ? `${process.ppid} ${parent.parentId}`
    : String(process.ppid)
}

/** Reads a process's name and parent from Linux's /proc; on other systems, both are unknown. */
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

/** Loads Kysely from one file, if `web/build.ts` has built it; this saves a third of a command's startup time. */
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

/** Strips the types of our own files below node_modules, where Node refuses to do so. */
function stripTypesHere() {
  const own = new URL('../src/', import.meta.url).href
  const emitWarning = process.emitWarning.bind(process)
  // Hides Node's warning that `stripTypeScriptTypes` is experimental, which does not concern people who run a command.
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
