/** The command line: one file per noun. */
import { ConfigError, readConfig } from '../config.ts'
import { start } from '../main.ts'

/** Runs a command; sets the process's exit code: 0 done, 1 refused or failed, 2 wrong use. */
export async function run(words: readonly string[]): Promise<void> {
  if (words[0] !== 'serve') {
    console.error('Use: intercept serve')
    process.exitCode = 2
    return
  }
  try {
    const running = await start(readConfig(process.env))
    console.log(`Intercept listens at ${running.baseUrl}`)
    const stopped = Promise.withResolvers<void>()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stopped.resolve)
    await stopped.promise
    await running[Symbol.asyncDispose]()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const sentence of error.sentences) console.error(sentence)
    process.exitCode = 1
  }
}
