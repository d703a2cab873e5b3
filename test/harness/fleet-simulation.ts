import type { Change, FeedMark } from '../../src/store/db/changes.ts'
import { randomFrom } from './random.ts'
import { SimNode, withCode, type Mend, type Surroundings } from './fleet-node.ts'
import { SimDatabase, World } from './fleet-world.ts'

export interface FleetResult {
  readonly seed: number
  /** Descriptions of the violated invariants; empty if all hold. */
  readonly broken: string[]
  readonly calls: number
  readonly answered: number
  readonly refused: number
  readonly faults: Readonly<Record<string, number>>
}

const kinds = ['pause', 'cut', 'kill', 'failover', 'step', 'restart', 'stop in a work'] as const
const sessionsInWorld = 12
// In one of six simulations, disturbances may last long enough for a node to be declared dead.
const usualTimes = { healAtMs: 16_000, endMs: 28_000, maxMs: 12_000, longShare: 0.3 }
const longTimes = { healAtMs: 44_000, endMs: 62_000, maxMs: 30_000, longShare: 0.8 }
/** How long a revocation may take while at most one node is stalled. Each further one may add `lockHeldMs`. */
const promisedMs = 3000
const lockHeldMs = 500
// The timeout of a lost request, plus the time for a new connection: after that, a node must be healthy.
const calmMs = 6000
// How often a node that nobody needs asks for changes.
const restMs = 2000

/**
 * Simulates several nodes with the real change feed, node registration and confirmation of changes; all randomness
 * derives from `seed`. `without` removes one fix, to show that the simulation then finds the defect.
 */
export async function simulateFleet(seed: number, without?: Mend): Promise<FleetResult> {
  const fleet = new Fleet(seed, without)
  return await fleet.run()
}

class Fleet implements Surroundings {
  readonly world: World
  readonly without: Mend | undefined
  readonly hints: ((mark: FeedMark) => unknown)[] = []
  readonly anyChange: Change
  database: SimDatabase
  readonly #seed: number
  readonly #broken = new Set<string>()
  readonly #faults: Record<string, number> = {}
  /** When each revocation was confirmed, except those lost in a failover. */
  readonly #answered = new Map<string, number>()
  #nodes: SimNode[] = []
  #tokens = 0
  #calls = 0
  #refused = 0
  #answers = 0
  #replacedAt = Number.NEGATIVE_INFINITY
  #slow: number
  /** A copy of the database from before any node was started. */
  readonly #backup: SimDatabase
  readonly #times: typeof usualTimes

  constructor(seed: number, without: Mend | undefined) {
    this.#seed = seed
    this.without = without
    this.world = new World(randomFrom(seed))
    this.#slow = this.world.random() < 0.3 ? 60 : 4
    this.#times = this.world.random() < 1 / 6 ? longTimes : usualTimes
    this.database = new SimDatabase(undefined, { identity: 'db/1', startedAt: '0' })
    this.anyChange = this.database.append('user', 'usr_0', this.token())
    this.#backup = new SimDatabase(this.database, this.database.server)
  }

  token = (): string => `t${(this.#tokens += 1)}`

  wayMs(): number {
    return this.world.random() * (this.world.random() < 0.05 ? this.#slow : 2)
  }

  /** Notifies all nodes; each notification gets lost with a probability of 20 %. */
  tell({ sequence, token }: Change): void {
    for (const hint of this.hints) if (this.world.random() < 0.8) hint({ sequence, token })
  }

  async lockFor(database: SimDatabase, owner: object, maxMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const giveUp = this.world.schedule(maxMs, () => {
        waiter.isGone = true
        reject(withCode(this.without === 'locks' ? '08000' : '55P03'))
      })
      const waiter = database.lock(owner, () => {
        giveUp()
        resolve()
      })
    })
  }

  async run(): Promise<FleetResult> {
    const { world } = this
    for (let at = 0; at < 2 + Math.floor(world.random() * 2); at++) this.#startNode()
    this.#clients()
    this.#publishers()
    this.#revocations()
    this.#misfortunes()
    world.schedule(this.#times.healAtMs, () => this.#heal())
    // Calls wake the feeds of nodes that nobody needed before.
    world.schedule(this.#times.endMs - 1000, () => {
      for (const node of this.#nodes) node.feed.isCurrent()
    })
    await world.run(this.#times.endMs)
    this.#checkEnd()
    return {
      seed: this.#seed,
      broken: [...this.#broken],
      calls: this.#calls,
      answered: this.#answers,
      refused: this.#refused,
      faults: this.#faults,
    }
  }

  #startNode(): void {
    const node = new SimNode(this, `node_${this.#nodes.length}`, true)
    node.skewMs = this.world.random() < 0.4 ? (this.world.random() - 0.5) * 7_200_000 : 0
    this.#nodes.push(node)
    void node.start()
  }

  #clients(): void {
    const { world } = this
    for (let at = 0; at < 160; at++) {
      world.schedule(world.random() * this.#times.endMs, () => {
        const node = this.#any((one) => !one.isPaused)
        if (node !== undefined) void this.#call(node, this.#session())
      })
    }
  }

  async #call(node: SimNode, id: string): Promise<void> {
    const began = this.world.now
    this.#calls += 1
    const isIn = await node.lets(id).catch(() => false)
    const answeredAt = this.#answered.get(id)
    if (isIn && answeredAt !== undefined && answeredAt <= began) {
      this.#broken.add(
        `${node.name} let ${id} in ${Math.round(began - answeredAt)} ms after the answer`,
      )
    }
  }

  #publishers(): void {
    const { world } = this
    for (let at = 0; at < 30; at++) {
      world.schedule(world.random() * this.#times.healAtMs, () => {
        const node = this.#any((one) => !one.isPaused)
        void node
          ?.commit(() => undefined, `noise_${at}`)
          .then((change) => node.feed.heardOwn([change]))
          .catch(() => undefined)
      })
    }
  }

  #revocations(): void {
    const { world } = this
    for (let at = 0; at < 10; at++) {
      world.schedule(world.random() * (this.#times.healAtMs + 4000), () => void this.#revoke())
    }
  }

  async #revoke(byCommandLine = this.world.random() < 0.3, inUse?: string): Promise<void> {
    const { world } = this
    const id = inUse ?? this.#session()
    // Cache the session on every running node, because a session that gets revoked is usually in use.
    for (const node of this.#nodes)
      if (inUse === undefined && !node.isPaused) void this.#call(node, id)
    const node = byCommandLine
      ? await this.#commandLine()
      : this.#any((one) => !one.isPaused && one.feed.ageMs() < restMs + 500)
    if (node === undefined || !(await node.feed.prove(1000))) return
    if (world.random() < 0.03) this.#replace(true, world.random() * 12)
    const began = world.now
    try {
      const looked = await node.revoke(id)
      this.#answers += 1
      if (looked === this.database && !looked.revoked.has(id)) {
        this.#broken.add(`the revocation of ${id} was answered, and is not in the database`)
      }
      if (this.database.revoked.has(id)) this.#answered.set(id, world.now)
      if (world.now - began > this.#promisedMs(began) && this.#isCalm(node, began)) {
        this.#broken.add(`a revocation took ${Math.round(world.now - began)} ms`)
      }
      for (const ms of [0, 1, 50, 300, 900]) {
        world.schedule(ms, () => {
          for (const other of this.#nodes)
            if (!other.isPaused && !other.isDead) void this.#call(other, id)
        })
      }
    } catch (error) {
      this.#refused += 1
      if (this.#isCalm(node, began)) {
        this.#broken.add(`a revocation was refused: ${(error as Error).message}`)
      }
    } finally {
      if (!node.serves) node.end()
    }
  }

  /**
   * Whether a process and the database are well and were last disturbed more than `calmMs` before `since`, or before
   * the process started.
   */
  #isCalm(node: SimNode, since: number): boolean {
    const latest = Math.max(node.disturbedAt, this.#replacedAt, node.startedAt)
    const isWell = !node.isCut && !node.isDead && !node.isPaused && this.database.isAlive
    return isWell && (latest < since - calmMs || latest === node.startedAt)
  }

  #promisedMs(since: number): number {
    const isStuck = (node: SimNode): boolean =>
      node.isPaused || node.isCut || node.disturbedAt > since - calmMs
    const more = this.#nodes.filter(isStuck).length - 1
    return promisedMs + Math.max(0, more) * lockHeldMs
  }

  async #commandLine(): Promise<SimNode | undefined> {
    const node = new SimNode(this, `cli_${this.world.now}`, false)
    await node.start()
    return node
  }

  #misfortunes(): void {
    const { world } = this
    const times = 1 + Math.floor(world.random() * 6)

    for (let at = 0; at < times; at++) {
      const kind = kinds[Math.floor(world.random() * kinds.length)]!
      world.schedule(1000 + world.random() * (this.#times.healAtMs - 2000), () => {
        this.#faults[kind] = (this.#faults[kind] ?? 0) + 1
        this.#befall(kind)
      })
    }
  }

  #befall(kind: (typeof kinds)[number]): void {
    const { world } = this
    const node = this.#any(() => true)
    const lastsMs =
      world.random() < this.#times.longShare ? this.#times.maxMs : world.random() * 6000
    if (kind === 'failover') return this.#replace(true)
    if (kind === 'restart') return this.#replace(false)
    if (node === undefined) return
    node.disturbedAt = world.now
    if (kind === 'pause') {
      this.#pause(node, lastsMs)
    } else if (kind === 'cut') {
      this.#cut(node, lastsMs)
    } else if (kind === 'stop in a work') {
      const stop = world.random() < 0.5 ? this.#pause : this.#cut
      node.stopsInWork = () => world.now < this.#times.healAtMs && stop(node, lastsMs)
      void node.commit(() => undefined, 'noise').catch(() => undefined)
      this.#revokeSoon(1000)
    } else if (kind === 'step') {
      node.skewMs += (world.random() - 0.5) * 7_200_000
    } else {
      node.isDead = true
      world.schedule(world.random() * 1000, () => this.#startNode())
    }
  }

  readonly #pause = (node: SimNode, ms: number): void => {
    node.isPaused = true
    this.world.schedule(ms, () => {
      node.disturbedAt = this.world.now
      node.resume()
      this.#revokeSoon(4000)
    })
  }

  readonly #cut = (node: SimNode, ms: number): void => {
    node.isCut = true
    this.world.schedule(ms, () => {
      node.disturbedAt = this.world.now
      node.isCut = false
      this.#revokeSoon(6000)
    })
  }

  /** Revokes a few sessions soon after a disturbance, when a mistake is most likely. */
  #revokeSoon(withinMs: number): void {
    for (let at = 0; at < 4; at++) {
      this.world.schedule(this.world.random() * withinMs, () => void this.#revoke())
    }
  }

  /** Replaces the database server with one that has its complete state or, if `isCopy`, an older state. */
  #replace(isCopy: boolean, inMs?: number): void {
    const { world } = this
    // Adds a node that the copy does not know.
    if (isCopy && world.random() < 0.4) world.schedule(1, () => this.#startNode())
    const before = this.database
    const copy = new SimDatabase(
      world.random() < 0.2 ? this.#backup : before,
      this.#nextServer(isCopy),
    )
    const lagMs =
      inMs !== undefined ? inMs : isCopy ? world.random() * (world.random() < 0.3 ? 9000 : 3000) : 0
    const awayMs = world.random() < 0.2 ? 1 : 50 + world.random() * 450
    world.schedule(lagMs, () => {
      if (this.database !== before || !before.isAlive) return
      const inUse = this.#session()
      for (const node of this.#nodes) if (!node.isPaused) void this.#call(node, inUse)
      world.schedule(20, () => void (before.isAlive = false))
      this.#replacedAt = world.now + 20 + awayMs
      const next = isCopy ? copy : new SimDatabase(before, this.#nextServer(false))
      world.schedule(20 + awayMs, () => {
        this.database = next
        this.#revokeSoon(700)
        if (isCopy) void this.#revoke(true, inUse)
        this.#replacedAt = world.now
        for (const id of this.#answered.keys()) if (!next.revoked.has(id)) this.#answered.delete(id)
      })
    })
  }

  /** Names the next database server. A copy may claim the same cluster and timeline and differ only in start time. */
  #nextServer(isCopy: boolean) {
    const isPromoted = isCopy && this.world.random() < 0.5
    const identity = isPromoted ? `db/${this.token()}` : this.database.server.identity
    return { identity, startedAt: this.token() }
  }

  #heal(): void {
    for (const node of this.#nodes) {
      if (node.isCut || node.isPaused) node.disturbedAt = this.world.now
      node.isCut = false
      if (node.isPaused) node.resume()
    }
  }

  #checkEnd(): void {
    const calmSince = this.world.now - calmMs
    // A failover may come so late that the simulation ends before the nodes are healthy again.
    if (!this.database.isAlive || this.#replacedAt > calmSince) return
    for (const node of this.#nodes) {
      if (!node.isDead && node.startedAt < calmSince && !node.feed.isCurrent()) {
        this.#broken.add(`${node.name} is not current in a healthy world`)
      }
    }
  }

  #any(isMeant: (node: SimNode) => boolean): SimNode | undefined {
    const found = this.#nodes.filter((node) => !node.isDead && isMeant(node))
    return found[Math.floor(this.world.random() * found.length)]
  }

  #session(): string {
    return `ses_${Math.floor(this.world.random() * sessionsInWorld)}`
  }
}
