export interface TortureOptions {
  /** Whether to run for seconds instead of minutes, as in `npm test`. */
  readonly short: boolean
  /** The same seed makes the same random choices. */
  readonly seed: number
  /** How long to run, for tortures without a fixed end. */
  readonly minutes?: number | undefined
  /** The amount of data or the number of trials, for tortures in which it can be chosen. */
  readonly size?: number | undefined
  readonly say: (line: string) => void
}

/** The result of a torture, which has passed if there are no findings. */
export interface TortureReport {
  readonly figures: Readonly<Record<string, number>>
  readonly findings: readonly string[]
}

export interface Torture {
  readonly about: string
  /** Whether the torture is too long for `npm test`, even in its short form. `npm run torture -- <name>` runs it. */
  readonly isLong?: true
  /** Says which programs the torture needs and this machine lacks; undefined if it can run. */
  readonly missing?: () => string | undefined
  run(options: TortureOptions): Promise<TortureReport>
}

/** How long a torture waits for the first work of what it is about to kill. */
const longestWaitMs = 20_000

/** Waits until something has been done, 20 s at most: on a slow machine, even the first work takes long. */
export async function waitForWork(isDone: () => boolean): Promise<void> {
  const waitUntil = performance.now() + longestWaitMs
  while (!isDone() && performance.now() < waitUntil) await wait(20)
}

/** Waits for a fixed time. Tortures may do that, because they are about what happens at random moments. */
export async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

export function prefixed(
  prefix: string,
  figures: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${prefix}_${name}`, value]),
  )
}
