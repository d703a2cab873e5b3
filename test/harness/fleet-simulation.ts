import { createSessionMemory, type SessionMemory } from '../../src/access/session-memory.ts'
import type { Change, FeedMark } from '../../src/store/db/db.ts'
import { patiently } from '../../src/store/engine/patience.ts'
import { waitForConfirmation } from '../../src/store/feed/confirmation.ts'
import { ChangeFeed, type Standing } from '../../src/store/feed/feed.ts'
import { NodeRegistration, standsAlone } from '../../src/store/feed/node-registration.ts'
import type { SessionWithUser } from '../../src/store/index.ts'
import { randomFrom } from '../torture/torture.ts'
import { SimDatabase, World } from './fleet-world.ts'

/**
 * What may be taken out again, to see that the simulation finds the defect that it mends:
 * history: the feed compares sequences only · clock: liveness is judged by each node's wall clock · locks: whoever stands
 * still keeps its locks for 10 s, and who waits is refused · settling: a new server's first second is like any other ·
 * standing: a node trusts what it reads also while nobody waits for it · lost: a change that is gone counts as confirmed
 */
export const mends = ['history', 'clock', 'locks', 'settling', 'standing', 'lost'] as const
export type Mend = (typeof mends)[number]

export interface FleetResult {
  readonly seed: number
  /** What must never happen, in words; empty when all is well. */
  readonly broken: string[]
  readonly calls: number
  readonly answered: number
  readonly refused: number
  readonly faults: Readonly<Record<string, number>>
}

const sessionsInWorld = 12
const healAtMs = 24_000
const endMs = 44_000
const requestTimeoutMs = 5000
const promisedMs = 3000

/** Runs the real feed, registration and confirmation of several nodes in one world, made from one number. */
export async function simulateFleet(seed: number, without?: Mend): Promise<FleetResult> {
  const fleet = new Fleet(seed, without)
  return await fleet.run()
}

interface Job {
  readonly ms: number
  readonly call: () => void
}

/** A process that talks to the database: over a network that cuts it off, on a machine that stops it. */
class SimProcess {
  readonly name: string
  readonly fleet: Fleet
  isPaused = false
  isDead = false
  isCut = false
  /** What the wall clock is off, and the monotonic one. */
  skewMs = 0
  readonly startedAt: number
  connectedTo: SimDatabase | undefined
  onOther: () => void = () => undefined
  #held: (() => void)[] = []

  constructor(fleet: Fleet, name: string) {
    this.fleet = fleet
    this.name = name
    this.startedAt = fleet.world.now
  }

  readonly clock = {
    now: (): number => 1_800_000_000_000 + this.fleet.world.now + this.skewMs,
    monotonic: (): number => this.fleet.world.now - this.startedAt + 1_000_000,
  }

  readonly timers = {
    every: (ms: number, call: () => void): (() => void) => {
      let isOver = false
      const again = (): void => {
        if (isOver) return
        call()
        this.after(ms, again)
      }
      this.after(ms, again)
      return () => void (isOver = true)
    },
    soon: (call: () => void): void => this.after(0, call),
  }

  /** Calls back unless the process is dead; a stopped one comes to it when it goes on. */
  after(ms: number, call: () => void): void {
    this.fleet.world.schedule(ms, () => {
      if (this.isDead) return
      if (this.isPaused) this.#held.push(call)
      else call()
    })
  }

  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.after(ms, resolve))
  }

  resume(): void {
    this.isPaused = false
    for (const call of this.#held.splice(0)) this.after(0, call)
  }

  /** Asks the database; the effect is there at once, or nothing comes back. */
  async ask<T>(effect: (database: SimDatabase) => T | Promise<T>): Promise<T> {
    const { world } = this.fleet
    return await new Promise<T>((resolve, reject) => {
      let isOver = false
      const end = (call: () => void): void => {
        if (isOver) return
        isOver = true
        call()
      }
      this.after(requestTimeoutMs, () => end(() => reject(new Error('query read timeout'))))
      world.schedule(this.fleet.wayMs(), () => {
        // A request that was sent arrives, also where its sender is stopped meanwhile.
        if (this.isCut || this.isDead) return
        const { database } = this.fleet
        const failed = (): void =>
          this.after(this.fleet.wayMs(), () =>
            end(() => reject(new Error('connection terminated'))),
          )
        if (!database.isAlive) return failed()
        if (this.connectedTo !== database) {
          const isFirst = this.connectedTo === undefined
          this.connectedTo = database
          database.greet(world.now)
          if (!isFirst && this.fleet.without !== 'history') this.after(0, () => this.onOther())
        }
        const back = (answer: () => void): void => {
          if (this.fleet.database !== database || !database.isAlive) return failed()
          world.schedule(this.fleet.wayMs(), () => {
            if (!this.isCut) this.after(0, () => end(answer))
          })
        }
        void Promise.resolve()
          .then(async () => await effect(database))
          .then(
            (result) => back(() => resolve(result)),
            (error: unknown) => back(() => reject(error as Error)),
          )
      })
    })
  }
}

/** The node's own code over a simulated database. */
class SimNode extends SimProcess {
  readonly feed: ChangeFeed
  readonly sessions: SessionMemory
  readonly registration: NodeRegistration | undefined
  readonly serves: boolean

  constructor(fleet: Fleet, name: string, serves: boolean) {
    super(fleet, name)
    this.serves = serves
    this.registration = serves
      ? new NodeRegistration({
          ...{ id: name, clock: this.clock, timers: this.timers },
          book: {
            beat: async (seen) => await this.ask((database) => this.#beat(database, seen)),
            list: async () => await this.ask((database) => database.rows()),
            remove: async ({ id, beat }) =>
              await this.ask((database) => {
                if (database.rows().find((row) => row.id === id)?.beat === beat) {
                  database.nodes.delete(id)
                }
              }),
            leave: async () => undefined,
          },
        })
      : undefined
    this.feed = new ChangeFeed({
      clock: this.clock,
      timers: this.timers,
      standing: this.#standing(),
      source: {
        pollMs: 200,
        hasForeignCommit: async () => true,
        read: async (from, limit) =>
          await this.ask((database) => this.#read(database, from, limit)),
        head: async () => await this.ask((database) => this.#head(database)),
        listen: (onHint) => fleet.hints.push((mark) => this.after(0, () => onHint(mark))),
      },
    })
    this.onOther = () => this.feed.doubt()
    this.sessions = createSessionMemory(this.feed, 1000)
    this.registration?.start(() => this.feed.mark())
    this.feed.onForeign(() => void this.registration?.beat().catch(() => undefined))
  }

  async start(): Promise<void> {
    for (;;) {
      try {
        return await this.feed.start()
      } catch {
        await this.wait(250)
      }
    }
  }

  #standing(): Standing {
    const { registration } = this
    if (registration === undefined) return standsAlone
    if (this.fleet.without !== 'standing') return registration
    return { covers: () => true, renew: async () => await registration.renew() }
  }

  #beat(database: SimDatabase, seen: FeedMark): boolean {
    const row = database.nodes.get(this.name)
    const beats = (row?.beats ?? 0) + 1
    database.nodes.set(this.name, { beats, heartbeatAt: this.clock.now(), seen: { ...seen } })
    return row !== undefined
  }

  #read(database: SimDatabase, from: FeedMark, limit: number) {
    const changes = database.changes.filter(({ sequence }) => sequence >= from.sequence)
    const { server } = database
    if (this.fleet.without !== 'history') return { server, changes: changes.slice(0, limit) }
    // As if only sequences were compared: the change at the mark is always there.
    const newer = changes.filter(({ sequence }) => sequence > from.sequence)
    const at = { ...(database.changes[0] ?? this.fleet.anyChange), ...from }
    const known = from.sequence === 0 ? newer : [at, ...newer]
    return { server: sameServer, changes: known.slice(0, limit) }
  }

  #head(database: SimDatabase) {
    const { sequence, token } = database.changes.at(-1) ?? { sequence: 0, token: '' }
    const server = this.fleet.without === 'history' ? sameServer : database.server
    return { server, mark: { sequence, token } }
  }

  /** What a call with a session sees: from memory while that is trusted, else from the database. */
  async lets(id: string): Promise<boolean> {
    const known = this.sessions.find(id)
    if (known !== undefined) return known.endedAt === undefined
    const found = await this.sessions.readThrough(
      id,
      async () => await this.ask((database) => sessionOf(database, id)),
    )
    return found !== undefined && found.endedAt === undefined
  }

  /** Revokes as `transactionConfirmed` does; returns the database that had the change when it was confirmed. */
  async revoke(id: string): Promise<SimDatabase> {
    const change = await patiently(
      { clock: this.clock, isAnswering: () => this.feed.isCurrent() },
      async () => await this.commit((database) => database.revoked.add(id), id),
    )
    this.feed.heardOwn([change])
    let looked = this.fleet.database
    await waitForConfirmation({
      look: async (of) =>
        await this.ask((database) => {
          looked = database
          return this.#look(database, of)
        }),
      clock: this.clock,
      wait: async (ms) => await this.wait(ms),
      self: this.serves ? this.name : undefined,
      change,
    })
    return looked
  }

  /** A transaction: takes the organization's lock, then writes and commits in one message. */
  async commit(write: (database: SimDatabase) => void, id: string): Promise<Change> {
    const owner = {}
    const { fleet } = this
    const isMended = fleet.without !== 'locks'
    const database = await this.ask(async (at) => {
      await fleet.lockFor(at, owner, isMended ? 1500 : 5000)
      // Whoever stands still with it loses it.
      fleet.world.schedule(isMended ? 500 : 10_000, () => at.unlock(owner))
      return at
    })
    return await this.ask((at) => {
      if (at !== database || !at.holds(owner)) throw withCode('25P03')
      write(at)
      const change = at.append('session', id, fleet.token())
      at.unlock(owner)
      fleet.tell(change)
      return change
    })
  }

  #look(database: SimDatabase, change: Change | undefined) {
    const { without, world } = this.fleet
    const rows = database.rows()
    const nodes =
      without === 'clock'
        ? rows.filter(({ beat }) => Number(beat.split(' ')[0]) >= this.clock.now() - 15_000)
        : rows
    return {
      nodes:
        without === 'history' ? nodes.map((row) => ({ ...row, isOfThisHistory: true })) : nodes,
      hasChange:
        change === undefined || ['lost', 'history'].includes(without ?? '') || database.has(change),
      unsettledMs:
        without === 'settling' || without === 'history'
          ? 0
          : Math.max(0, 1100 - (world.now - database.since)),
    }
  }
}

const sameServer = { identity: 'one', startedAt: '' }

function sessionOf(database: SimDatabase, id: string): SessionWithUser {
  const endedAt = database.revoked.has(id) ? 1 : undefined
  return { id, userId: `usr_${id}`, endedAt } as unknown as SessionWithUser
}

function withCode(code: string): Error {
  return Object.assign(new Error(`refused with ${code}`), { code })
}

/** Nodes, clients, and what befalls them. */
class Fleet {
  readonly world: World
  readonly without: Mend | undefined
  readonly hints: ((mark: FeedMark) => void)[] = []
  readonly anyChange: Change
  database: SimDatabase
  readonly #seed: number
  readonly #broken = new Set<string>()
  readonly #faults: Record<string, number> = {}
  /** When a revocation was answered; what a failover lost is not in it. */
  readonly #answered = new Map<string, number>()
  #nodes: SimNode[] = []
  #tokens = 0
  #calls = 0
  #refused = 0
  #answers = 0
  #replacedAt = Number.NEGATIVE_INFINITY
  #slow: number

  constructor(seed: number, without: Mend | undefined) {
    this.#seed = seed
    this.without = without
    this.world = new World(randomFrom(seed))
    this.#slow = this.world.random() < 0.3 ? 60 : 4
    this.database = new SimDatabase(undefined, { identity: 'db/1', startedAt: '0' })
    this.anyChange = this.database.append('user', 'usr_0', this.token())
  }

  token = (): string => `t${(this.#tokens += 1)}`

  wayMs(): number {
    return this.world.random() * (this.world.random() < 0.05 ? this.#slow : 2)
  }

  /** A notification to all; one in five gets lost. */
  tell({ sequence, token }: Change): void {
    for (const hint of this.hints) if (this.world.random() < 0.8) hint({ sequence, token })
  }

  async lockFor(database: SimDatabase, owner: object, maxMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const waiter = database.lock(owner, resolve)
      this.world.schedule(maxMs, () => {
        waiter.isGone = true
        reject(withCode(this.without === 'locks' ? '08000' : '55P03'))
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
    world.schedule(healAtMs, () => this.#heal())
    await world.run(endMs)
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
      world.schedule(world.random() * endMs, () => {
        const node = this.#any((one) => !one.isPaused)
        if (node !== undefined) void this.#call(node, this.#session())
      })
    }
    // Right after an answer is when it matters.
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
      world.schedule(world.random() * healAtMs, () => {
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
      world.schedule(world.random() * (healAtMs + 4000), () => void this.#revoke())
    }
  }

  async #revoke(): Promise<void> {
    const { world } = this
    const id = this.#session()
    // In use everywhere, as what is revoked in earnest is.
    for (const node of this.#nodes) if (!node.isPaused) void this.#call(node, id)
    const node =
      world.random() < 0.3
        ? await this.#commandLine()
        : this.#any((one) => !one.isPaused && one.feed.isCurrent())
    if (node === undefined) return
    const began = world.now
    const database = this.database
    const isCalm = (): boolean => !node.isCut && !node.isDead && !node.isPaused
    try {
      const looked = await node.revoke(id)
      this.#answers += 1
      if (looked === this.database && !looked.revoked.has(id)) {
        this.#broken.add(`the revocation of ${id} was answered, and is not in the database`)
      }
      if (this.database.revoked.has(id)) this.#answered.set(id, world.now)
      if (world.now - began > promisedMs && isCalm() && this.#replacedAt < began - promisedMs) {
        if (node.wasCalmSince(began))
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
      const isQuiet = database === this.database && this.#replacedAt < began - promisedMs
      if (isQuiet && node.wasCalmSince(began)) {
        this.#broken.add(`a revocation was refused: ${(error as Error).message}`)
      }
    }
  }

  async #commandLine(): Promise<SimNode | undefined> {
    const node = new SimNode(this, `cli_${this.world.now}`, false)
    await node.start()
    return node
  }

  #misfortunes(): void {
    const { world } = this
    const times = 1 + Math.floor(world.random() * 6)
    const kinds = ['pause', 'cut', 'kill', 'failover', 'step', 'restart'] as const
    for (let at = 0; at < times; at++) {
      const kind = kinds[Math.floor(world.random() * kinds.length)]!
      world.schedule(1000 + world.random() * (healAtMs - 2000), () => {
        this.#faults[kind] = (this.#faults[kind] ?? 0) + 1
        this.#befall(kind)
      })
    }
  }

  #befall(kind: 'pause' | 'cut' | 'kill' | 'failover' | 'step' | 'restart'): void {
    const { world } = this
    const node = this.#any(() => true)
    const lastsMs = world.random() < 0.3 ? 18_000 : world.random() * 6000
    if (kind === 'failover') return this.#replace(true)
    if (kind === 'restart') return this.#replace(false)
    if (node === undefined) return
    node.disturb()
    if (kind === 'pause') {
      node.isPaused = true
      world.schedule(lastsMs, () => node.resume())
    } else if (kind === 'cut') {
      node.isCut = true
      world.schedule(lastsMs, () => void (node.isCut = false))
    } else if (kind === 'step') {
      node.skewMs += (world.random() - 0.5) * 7_200_000
    } else {
      node.isDead = true
      world.schedule(world.random() * 1000, () => this.#startNode())
    }
  }

  /** The server dies; what takes its place knows what it knew some time ago, or all of it. */
  #replace(isCopy: boolean): void {
    const { world } = this
    const before = this.database
    const copy = new SimDatabase(before, this.#nextServer(isCopy))
    const lagMs = isCopy ? world.random() * 3000 : 0
    world.schedule(lagMs, () => {
      if (this.database !== before || !before.isAlive) return
      before.isAlive = false
      this.#replacedAt = world.now + 500
      const next = isCopy ? copy : new SimDatabase(before, this.#nextServer(false))
      world.schedule(100 + world.random() * 400, () => {
        this.database = next
        this.#replacedAt = world.now
        for (const id of this.#answered.keys()) if (!next.revoked.has(id)) this.#answered.delete(id)
      })
    })
  }

  /** A copy may be started as the same cluster on the same timeline: only its start is another. */
  #nextServer(isCopy: boolean) {
    const isPromoted = isCopy && this.world.random() < 0.5
    const identity = isPromoted ? `db/${this.token()}` : this.database.server.identity
    return { identity, startedAt: this.token() }
  }

  #heal(): void {
    for (const node of this.#nodes) {
      node.isCut = false
      if (node.isPaused) node.resume()
    }
  }

  #checkEnd(): void {
    for (const node of this.#nodes) {
      if (!node.isDead && !node.feed.isCurrent()) {
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
