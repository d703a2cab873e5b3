import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'

/** Counts steps from now on. */
export interface Steps {
  /** How many blocks of source files below a folder ran during a work, as `src/scim`. */
  of(folder: string, work: () => void): Promise<number>
}

/**
 * Begins to count which blocks of our source run: V8 does it, so a count is the same on every machine, however busy.
 * What happens inside of V8 (a regular expression, `indexOf`) is one step. To be called before the functions that
 * are counted ran for the first time, as V8 compiles the counters into them.
 */
export async function startSteps(): Promise<Steps> {
  // Compiled again, or thrown away because memory is short, a function would lose counts.
  for (const flag of ['--no-opt', '--no-maglev', '--no-flush-bytecode']) setFlagsFromString(flag)
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    async of(folder, work) {
      await session.post('Profiler.takePreciseCoverage')
      work()
      const { result } = await session.post('Profiler.takePreciseCoverage')
      return result
        .filter(({ url }) => url.includes(`/${folder}/`))
        .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
        .reduce((sum, { count }) => sum + count, 0)
    },
  }
}
