import { wait } from '../torture.ts'
import type { Fleet, FleetNode, IssuedKey, Revocation } from './fleet.ts'

const watchForMs = 1500
const askEveryMs = 20
const betweenMs = 30

export interface AcceptanceFigures {
  revocations: number
  acceptedAfter: number
  unanswered: number
  worstMs: number
  calls: number
}

/**
 * Revokes keys that are in use on all nodes, and checks continuously whether a node accepts a key after the key's
 * revocation was answered.
 */
export class AcceptanceCheck {
  readonly figures: AcceptanceFigures = {
    ...{ revocations: 0, acceptedAfter: 0, unanswered: 0, worstMs: 0, calls: 0 },
  }
  readonly findings: string[] = []
  readonly #fleet: Fleet
  readonly #random: () => number
  readonly #watching = new Set<Promise<void>>()
  #running: Promise<void> | undefined
  #isOver = false

  constructor(fleet: Fleet, random: () => number) {
    this.#fleet = fleet
    this.#random = random
  }

  /** Revokes and checks keys, one after the other, until `pause` is called. */
  resume(): void {
    this.#isOver = false
    this.#running = this.#revokeOn()
  }

  /** Stops revoking keys, and waits until the background checks of revoked keys have ended. */
  async pause(): Promise<void> {
    this.#isOver = true
    await this.#running
    await Promise.all(this.#watching)
  }

  /** Issues keys and calls every node with them, so that each node that responds has cached them. */
  async keysInUse(count: number): Promise<IssuedKey[]> {
    const keys: IssuedKey[] = []
    for (let at = 0; at < count; at++) keys.push(await this.#issue())
    await Promise.all(keys.map(async (key) => await this.use(key)))
    return keys
  }

  /** Calls every node with a key, so that each node that responds caches it. */
  async use({ secret }: IssuedKey): Promise<void> {
    await Promise.all(
      this.#fleet.nodes.map(async (node) => {
        const call = this.#fleet.call(node, secret)
        // A paused node does not respond, so wait for a second at most.
        await Promise.race([call, wait(1000)])
      }),
    )
  }

  /** Revokes a key at a node. If that succeeds, checks in the background for 1.5 s that no node accepts the key. */
  async revoke(node: FleetNode, key: IssuedKey): Promise<Revocation> {
    const revocation = await this.#fleet.revoke(node, key)
    if (revocation.status !== 200) {
      this.figures.unanswered += 1
      return revocation
    }
    this.figures.revocations += 1
    this.figures.worstMs = Math.max(this.figures.worstMs, Math.round(revocation.tookMs))
    const watching = this.#watch(key, revocation.answeredAt).finally(
      () => void this.#watching.delete(watching),
    )
    this.#watching.add(watching)
    return revocation
  }

  /** Revokes a key, and retries until a node has confirmed it with 200. */
  async revokeUntilAnswered(key: IssuedKey, withinMs = 30_000): Promise<Revocation> {
    const end = performance.now() + withinMs
    for (;;) {
      const revocation = await this.revoke(this.anyNode(), key)
      if (revocation.status === 200) return revocation
      if (performance.now() > end) throw new Error(`no revocation within ${withinMs} ms`)
      await wait(askEveryMs)
    }
  }

  anyNode(): FleetNode {
    const nodes = this.#fleet.nodes.filter(({ isDown }) => !isDown)
    const node = nodes[Math.floor(this.#random() * nodes.length)]
    if (node === undefined) throw new Error('there is no node')
    return node
  }

  async #issue(): Promise<IssuedKey> {
    const end = performance.now() + 30_000
    for (;;) {
      try {
        return await this.#fleet.issue(this.anyNode(), 'hammered')
      } catch (error) {
        if (performance.now() > end) throw error
        await wait(askEveryMs)
      }
    }
  }

  async #revokeOn(): Promise<void> {
    while (!this.#isOver) {
      try {
        const key = await this.#fleet.issue(this.anyNode(), 'hammered')
        await this.use(key)
        await this.revoke(this.anyNode(), key)
      } catch {
        // Issuing a key may fail during a fault.
        this.figures.unanswered += 1
      }
      await wait(betweenMs)
    }
  }

  async #watch(key: IssuedKey, answeredAt: number): Promise<void> {
    const end = answeredAt + watchForMs
    await Promise.all(
      this.#fleet.nodes.map(async (node) => {
        while (performance.now() < end) {
          const startedAt = performance.now()
          this.figures.calls += 1
          if ((await this.#fleet.call(node, key.secret)) === 200) {
            this.figures.acceptedAfter += 1
            const late = Math.round(startedAt - answeredAt)
            this.findings.push(`${node.name} accepted ${key.id} ${late} ms after the answer`)
            return
          }
          await wait(askEveryMs)
        }
      }),
    )
  }
}
