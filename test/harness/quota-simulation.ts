import type { Clock } from '../../src/clock.ts'
import { createId } from '../../src/ids.ts'
import type { QuotaClaim, QuotaStanding } from '../../src/store/tables/calls/traffic.ts'
import { ClaimedQuotas, type QuotaSubject } from '../../src/targets/quotas.ts'
import { randomFrom } from './random.ts'
import { World } from './fleet-world.ts'

/**
 * A fix that can be removed. Without `claims`, the database also grants calls that other nodes have claimed but not
 * spent yet. Without `returns`, a node forgets the calls that it failed to give back.
 */
export type QuotaMend = 'claims' | 'returns'

export interface QuotaResult {
  readonly broken: readonly string[]
  readonly passed: number
  readonly refused: number
}

const nodeCount = 3
const endMs = 20_000
const healAtMs = 12_000
const flushMs = 1000
/** The error of a claim that failed before it reached the database. */
const unheard = 'the database does not answer'
const midday = Date.UTC(2027, 0, 15, 12)

/**
 * Simulates several nodes that spend one quota, using the real quota code; all randomness derives from `seed`.
 * `without` removes one fix, to show that the simulation then finds the defect.
 */
export async function simulateQuota(seed: number, without?: QuotaMend): Promise<QuotaResult> {
  return await new QuotaWorld(seed, without).run()
}

interface QuotaNode {
  quotas: ClaimedQuotas
  isDead: boolean
  isCut: boolean
}

class QuotaWorld {
  readonly #world: World
  readonly #without: QuotaMend | undefined
  readonly #subject: QuotaSubject
  readonly #clock: Clock
  readonly #nodes: QuotaNode[] = []
  readonly #row = { spent: 0, claimed: 0 }
  readonly #slowMs: number
  /** Whether a node died or a response of the database was lost. The calls claimed by then may be lost, too. */
  #hasLost = false
  #passed = 0
  #refused = 0

  constructor(seed: number, without: QuotaMend | undefined) {
    this.#world = new World(randomFrom(seed))
    this.#without = without
    const random = this.#world.random
    const calls = [10, 100, 257, 1000][Math.floor(random() * 4)] ?? 100
    this.#slowMs = random() < 0.3 ? 120 : 6
    this.#clock = {
      now: () => midday + this.#world.now,
      monotonic: () => this.#world.now + 1_000_000,
    }
    this.#subject = {
      organizationId: createId('org', 0),
      ...{ subjectId: 'key_1', kind: 'key', quota: { calls, period: 'day' } },
    }
  }

  async run(): Promise<QuotaResult> {
    const world = this.#world
    for (let at = 0; at < nodeCount; at++) this.#nodes.push(this.#startNode())
    this.#offer()
    if (world.random() < 0.6) this.#misfortunes()
    await world.run(endMs)
    const { calls } = this.#subject.quota
    const broken: string[] = []
    if (this.#passed > calls) broken.push(`${this.#passed} calls passed a quota of ${calls}`)
    if (!this.#hasLost && this.#passed < calls) {
      broken.push(`only ${this.#passed} calls passed a quota of ${calls} although nothing was lost`)
    }
    return { broken, passed: this.#passed, refused: this.#refused }
  }

  #startNode(): QuotaNode {
    const node: QuotaNode = {
      isDead: false,
      isCut: false,
      quotas: new ClaimedQuotas(
        {
          claim: async (claims) => await this.#ask(node, claims),
          changedNothing: (error) =>
            this.#without !== 'returns' && (error as Error).message === unheard,
          onReset: () => undefined,
          announce: async () => undefined,
          wait: async (ms) => await this.#wait(ms),
        },
        this.#clock,
      ),
    }
    const flush = (): void => {
      if (node.isDead) return
      void node.quotas.flush().catch(() => undefined)
      this.#world.schedule(flushMs, flush)
    }
    this.#world.schedule(this.#world.random() * flushMs, flush)
    return node
  }

  /**
   * Sends far more calls than the quota allows: bursts at random nodes, then a steady flow, which uses up the calls
   * that nodes give back late.
   */
  #offer(): void {
    const world = this.#world
    const { calls } = this.#subject.quota
    for (let burst = 0; burst < 8; burst++) {
      const node = Math.floor(world.random() * nodeCount)
      world.schedule(world.random() * healAtMs, () => {
        for (let call = 0; call < calls / 2; call++) {
          const at = world.random() < 0.5 ? node : Math.floor(world.random() * nodeCount)
          world.schedule(world.random() * 200, () => void this.#call(this.#nodes[at]))
        }
      })
    }
    for (let ms = healAtMs; ms < endMs; ms += 4) {
      const at = Math.floor(world.random() * nodeCount)
      world.schedule(ms, () => void this.#call(this.#nodes[at]))
    }
  }

  async #call(node: QuotaNode | undefined): Promise<void> {
    if (node === undefined || node.isDead) return
    try {
      let verdict = node.quotas.ask(this.#subject, this.#clock.now())
      // As in the real limits, a call must be checked and spent in the same turn of the event loop.
      while (verdict instanceof Promise) {
        await verdict
        if (node.isDead) return
        verdict = node.quotas.ask(this.#subject, this.#clock.now())
      }
      if (verdict.admitted) {
        node.quotas.spend(this.#subject, this.#clock.now())
        this.#passed += 1
      } else this.#refused += 1
    } catch {
      this.#refused += 1
    }
  }

  async #ask(node: QuotaNode, claims: readonly QuotaClaim[]): Promise<QuotaStanding[]> {
    await this.#wait(this.#world.random() * this.#slowMs)
    if (node.isDead) return await new Promise<never>(() => undefined)
    if (node.isCut) throw new Error(unheard)
    const standings = claims.map((claim) => this.#settle(claim))
    await this.#wait(this.#world.random() * this.#slowMs)
    if (node.isDead) return await new Promise<never>(() => undefined)
    // The claim took effect, but its response is lost.
    if (node.isCut) {
      this.#hasLost = true
      throw new Error('the answer got lost')
    }
    return standings
  }

  /** Settles a claim in the simulated row as `claimQuotas` does in the database. */
  #settle({ spent, wanted, returned, limit }: QuotaClaim): QuotaStanding {
    const row = this.#row
    row.spent += spent
    row.claimed -= returned
    const taken = this.#without === 'claims' ? row.spent : row.claimed
    const granted = Math.min(wanted, Math.max(0, limit - taken))
    row.claimed += granted
    return { spent: row.spent, claimed: row.claimed, granted }
  }

  #misfortunes(): void {
    const world = this.#world
    for (let at = 0; at < 1 + Math.floor(world.random() * 4); at++) {
      const which = Math.floor(world.random() * nodeCount)
      world.schedule(world.random() * (healAtMs - 4000), () => {
        const node = this.#nodes[which]
        if (node === undefined) return
        if (world.random() < 0.4) {
          node.isDead = true
          this.#hasLost = true
          world.schedule(500, () => void (this.#nodes[which] = this.#startNode()))
        } else {
          node.isCut = true
          world.schedule(world.random() * 3000, () => void (node.isCut = false))
        }
      })
    }
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#world.schedule(ms, resolve))
  }
}
