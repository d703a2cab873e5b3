import { wait } from '../torture.ts'
import type { Trials } from './misfortunes.ts'

const answeredWithinMs = 5000
const backWithinMs = 1000
const maxLines = 2

/**
 * Kills the database server and starts it again: calls are refused in time and succeed again soon, and each node logs
 * at most two lines about the outage.
 */
export async function awayAndBack({ fleet, check, findings }: Trials) {
  await check.pause()
  const [key] = await check.keysInUse(1)
  if (key === undefined) throw new Error('there is no key')
  const linesBefore = fleet.nodes.map(({ server }) => server.lines.length)
  const over = new AbortController()
  let slowestMs = 0
  const passedAt = new Map<string, number[]>()
  const calling = fleet.nodes.flatMap((node) => {
    const passed: number[] = []
    passedAt.set(node.name, passed)
    return Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        const startedAt = performance.now()
        const status = await fleet.call(node, key.secret)
        slowestMs = Math.max(slowestMs, performance.now() - startedAt)
        if (status === 200) passed.push(performance.now())
        else if (status !== 503) findings.push(`${node.name} answered ${status} without database`)
        await wait(10)
      }
    })
  })
  await fleet.cluster.kill()
  await wait(4000)
  await fleet.cluster.start()
  const backAt = performance.now()
  await fleet.allReady()
  // A node logs the end of an outage once a check, made every second, finds no refusals since the previous check.
  await wait(3000)
  over.abort()
  await Promise.all(calling)
  const backMs = fleet.nodes.map(
    ({ name }) => (passedAt.get(name)?.find((at) => at > backAt) ?? Infinity) - backAt,
  )
  const lines = fleet.nodes.map(({ server }, at) => server.lines.length - (linesBefore[at] ?? 0))
  const slowestBackMs = Math.round(Math.max(...backMs))
  const mostLines = Math.max(...lines)
  if (slowestMs > answeredWithinMs) {
    findings.push(`a call took ${Math.round(slowestMs)} ms without database`)
  }
  if (slowestBackMs > backWithinMs) findings.push(`a node was back after ${slowestBackMs} ms`)
  if (mostLines > maxLines) {
    const worst = fleet.nodes[lines.indexOf(mostLines)]
    const said = worst?.server.lines.slice(-mostLines).map((line) => line.slice(0, 160)) ?? []
    findings.push(`${mostLines} lines about one outage: ${said.join(' | ')}`)
  }
  check.resume()
  return { slowestMs: Math.round(slowestMs), slowestBackMs, mostLines }
}
