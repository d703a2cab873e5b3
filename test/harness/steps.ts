import { Session } from 'node:inspector/promises'
import { setFlagsFromString } from 'node:v8'

/** Counts how much of our source runs. Unlike a duration, the count does not depend on the machine. */
export interface Steps {
  /** Counts how often blocks of source files below a folder (such as `src/scim`) run during some work. */
  of(folder: string, work: () => void): Promise<number>
}

/**
 * Starts counting which blocks of our source run. Work inside V8 (a regular expression, `indexOf`) is not counted. Call
 * this before the counted functions first run, because V8 compiles the counters into them.
 */
export async function startSteps(): Promise<Steps> {
  // Recompiling a function, or discarding it to save memory, would lose counts.
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
