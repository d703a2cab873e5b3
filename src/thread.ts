import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread that lasts. It shares the launcher's cache of compiled code: otherwise each thread would load Node's
 * own TypeScript compiler, which takes 17 MB, to read one file.
 */
export function startThread(file: URL, options: WorkerOptions): Worker {
  return new Worker(file, { ...options, env: threadEnvironment(getCompileCacheDir()) })
}

/** The environment of a thread, where this process keeps compiled code in a folder. */
export function threadEnvironment(folder: string | undefined): NodeJS.ProcessEnv {
  // The folder belongs to one version of Node, and the setting names the one above.
  return folder === undefined
    ? { ...process.env }
    : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) }
}
