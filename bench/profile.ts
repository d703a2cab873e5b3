// Shows where a process spent its time, from the profile that `node --cpu-prof` wrote.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { functionName: string; url: string; lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** How much is left out at each end of a profile, to exclude start-up and shutdown. */
const skippedMs = 8000

/**
 * The functions in which the thread with the most samples spent its time, with their shares; waiting is left out.
 */
export function topOf(folder: string, count = 45): string[] {
  const profiles = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile,
  )
  const [profile] = profiles.toSorted((a, b) => b.samples.length - a.samples.length)
  if (profile === undefined) return []
  const selves = new Map<string, number>()
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const end = profile.timeDeltas.reduce((sum, took) => sum + took, 0) - skippedMs * 1000
  let at = 0
  let total = 0
  for (const [index, took] of profile.timeDeltas.entries()) {
    at += took
    const name = names.get(profile.samples[index] ?? 0) ?? ''
    if (at < skippedMs * 1000 || at > end || name.startsWith('(idle)')) continue
    selves.set(name, (selves.get(name) ?? 0) + took)
    total += took
  }
  return [...selves]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, took]) => `${((took / total) * 100).toFixed(1).padStart(5)} %  ${name}`)
}

function nameOf(frame: Profile['nodes'][number]['callFrame']): string {
  const file = frame.url.split('/').slice(-2).join('/')
  return `${frame.functionName || '(anonymous)'} ${file === '' ? '' : `${file}:${frame.lineNumber + 1}`}`
}
