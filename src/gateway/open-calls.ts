import type { KeyCache, KeyPrincipal } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { KeyId, OrganizationId, TargetId } from '../ids.ts'
import { asStorageProblem } from '../store/index.ts'
import type { TargetCache } from '../targets/index.ts'
import { nextTurn } from '../timers.ts'
import { CallList } from './call-list.ts'
import type { Call } from './call.ts'
import type { JudgeAgain } from './judge-again.ts'

/**
 * The calls in progress, by key. When a key ends, its calls are cut off. When a key or a target is changed so that a
 * call would be refused now, the call is cut off if it is a stream; otherwise it may finish.
 */
export interface OpenCalls {
  /** Adds a call; throws 429 `rate_limited` when its key has too many in progress. */
  add(call: Call, keyId: KeyId): void
  remove(call: Call, keyId: KeyId): void
  readonly size: number
  /** How many keys have a list of calls; the lists of keys without calls are dropped only when there are many. */
  readonly lists: number
  /** How many of the calls are event streams or WebSockets. */
  streams(): number
  /** Ends event streams and WebSockets, which would otherwise keep a stopping process alive. */
  endStreams(): void
  [Symbol.dispose](): void
}

const maxPerKey = 1000
// Keys checked before yielding to the event loop: reads from SQLite never yield, so checking thousands of keys in a row
// would delay every call.
const keysAtOnce = 16
const sweepMs = 500
/**
 * Empty lists are dropped only when there are more lists than this. V8 compiles the code of a call without the part that
 * makes a list if that part never ran under load, and discards all of that code when the part runs.
 */
const keptLists = 256

interface OpenCallsDeps {
  readonly keyCache: KeyCache
  readonly targetCache: Pick<TargetCache, 'onChange'>
  readonly judgeAgain: JudgeAgain
  readonly clock: Clock
  readonly log: { error(fields: object, text: string): void }
}

export function createOpenCalls(deps: OpenCallsDeps): OpenCalls {
  return new CallsByKey(deps)
}

class CallsByKey implements OpenCalls {
  readonly #deps: OpenCallsDeps
  /** Empty lists are kept until there are many lists. */
  readonly #byKey = new Map<KeyId, CallList>()
  /** Runs while there are calls. */
  #sweep: NodeJS.Timeout | undefined
  /**
   * The rechecks in progress, by organization (undefined stands for all organizations). A recheck marked as outdated
   * starts over when it has finished.
   */
  readonly #rechecks = new Map<OrganizationId | undefined, { isOutdated: boolean }>()
  /**
   * Keys whose calls could not be checked, usually because of a database outage; the sweep checks these calls again.
   */
  readonly #unchecked = new Set<KeyId>()
  #isRetrying = false
  #size = 0
  #isEnding = false

  constructor(deps: OpenCallsDeps) {
    this.#deps = deps
    deps.keyCache.onChange((changed) => {
      if (changed === undefined || changed.startsWith('org_')) {
        void this.#recheckAll(changed as OrganizationId | undefined)
        return
      }
      const calls = this.#byKey.get(changed as KeyId)
      if (calls !== undefined) void this.#recheck(calls)
    })
    deps.targetCache.onChange((targetId) => void this.#judgeAllOf(targetId))
  }

  get size(): number {
    return this.#size
  }

  get lists(): number {
    return this.#byKey.size
  }

  add(call: Call, keyId: KeyId): void {
    const calls = this.#byKey.get(keyId)
    if (calls === undefined) this.#byKey.set(keyId, new CallList(call))
    else if (calls.size < maxPerKey) calls.add(call)
    else throw tooManyAtOnce()
    this.#size++
    this.#sweep ??= setInterval(() => this.#onSweep(), sweepMs).unref()
  }

  remove(call: Call, keyId: KeyId): void {
    if (this.#byKey.get(keyId)?.delete(call) === true) this.#size--
  }

  streams(): number {
    let count = 0
    for (const calls of this.#byKey.values()) {
      for (const { exchange } of calls) if (exchange.isStream) count++
    }
    return count
  }

  endStreams(): void {
    // A call in progress may become a stream later; the sweep will end it.
    this.#isEnding = true
    this.#endStreams()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep)
  }

  /** Checks the calls of all keys of one organization, or of all organizations, a few keys at a time. */
  async #recheckAll(organizationId: OrganizationId | undefined): Promise<void> {
    const underWay = this.#rechecks.get(organizationId)
    if (underWay !== undefined) {
      underWay.isOutdated = true
      return
    }
    const recheck = { isOutdated: false }
    this.#rechecks.set(organizationId, recheck)
    do {
      recheck.isOutdated = false
      const concerned = this.#callsOf(organizationId)
      for (let at = 0; at < concerned.length; at += keysAtOnce) {
        const some = concerned.slice(at, at + keysAtOnce)
        await Promise.all(some.map(async (calls) => await this.#recheck(calls)))
        await nextTurn()
      }
    } while (recheck.isOutdated)
    this.#rechecks.delete(organizationId)
  }

  #callsOf(organizationId: OrganizationId | undefined): CallList[] {
    const all = [...this.#byKey.values()]
    if (organizationId === undefined) return all
    return all.filter((calls) => {
      const [first] = calls
      return first?.principal.organizationId === organizationId
    })
  }

  /**
   * Checks one key's calls again: cuts them off if the key has ended, and judges them again otherwise. Each secret is
   * checked on its own, because a rotated key's old and new secrets end at different times.
   */
  async #recheck(calls: CallList): Promise<void> {
    const verdicts = new Map<KeyPrincipal['digest'], Promise<KeyPrincipal | Problem>>()
    for (const call of calls) {
      const { principal } = call
      const asked = verdicts.get(principal.digest) ?? this.#deps.keyCache.recheck(principal)
      verdicts.set(principal.digest, asked)
      try {
        const found = await asked
        // A database outage is no reason to cut off calls in progress.
        if (!(found instanceof Problem)) call.current = found
        else if (found.code === 'credential_unverifiable') this.#unchecked.add(principal.keyId)
        else {
          cut(call, found)
          continue
        }
      } catch (err) {
        this.#deps.log.error({ err }, 'an open call could not be checked')
      }
      await this.#judge(call)
    }
  }

  /**
   * Judges again, a few at a time, the calls to one target and those whose target is not known yet; all calls if no
   * target is given.
   */
  async #judgeAllOf(targetId: TargetId | undefined): Promise<void> {
    const concerned = [...this.#byKey.values()].flatMap((calls) =>
      [...calls].filter(
        ({ target }) => targetId === undefined || (target?.id ?? targetId) === targetId,
      ),
    )
    for (let at = 0; at < concerned.length; at += keysAtOnce) {
      const some = concerned.slice(at, at + keysAtOnce)
      await Promise.all(some.map(async (call) => await this.#judge(call)))
      await nextTurn()
    }
  }

  async #judge(call: Call): Promise<void> {
    try {
      call.refusedNow = await this.#deps.judgeAgain(call)
      cutIfStream(call)
    } catch (err) {
      this.#unchecked.add(call.principal.keyId)
      if (asStorageProblem(err) === undefined) {
        this.#deps.log.error({ err }, 'an open call could not be judged again')
      }
    }
  }

  /** Checks again, a few keys at a time, the calls that could not be checked after a change. */
  async #retry(): Promise<void> {
    if (this.#isRetrying) return
    this.#isRetrying = true
    const keys = [...this.#unchecked]
    this.#unchecked.clear()
    for (let at = 0; at < keys.length; at += keysAtOnce) {
      const some = keys.slice(at, at + keysAtOnce).flatMap((key) => this.#byKey.get(key) ?? [])
      await Promise.all(some.map(async (calls) => await this.#recheck(calls)))
      await nextTurn()
    }
    this.#isRetrying = false
  }

  #onSweep(): void {
    this.#cutEnded()
    if (this.#byKey.size > keptLists) this.#dropEmptyLists()
    if (this.#unchecked.size > 0) void this.#retry()
    if (this.#isEnding) this.#endStreams()
    if (this.#size > 0) return
    // The timer stops while there are no calls, so that it never wakes an idle node.
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  #dropEmptyLists(): void {
    for (const [keyId, calls] of this.#byKey) if (calls.size === 0) this.#byKey.delete(keyId)
  }

  #cutEnded(): void {
    const nowMs = this.#deps.clock.now()
    for (const calls of this.#byKey.values()) {
      for (const call of calls) {
        const { expiresAt } = call.current
        if (expiresAt !== undefined && expiresAt <= nowMs) {
          cut(call, new Problem('credential_expired', 'The API key has expired.'))
        } else cutIfStream(call)
      }
    }
  }

  #endStreams(): void {
    for (const calls of this.#byKey.values()) for (const call of calls) call.exchange.endStream()
  }
}

/**
 * Cuts off a call that would be refused now, but only if it is a stream. Any other call may still become one, so every
 * sweep checks again whether it has.
 */
function cutIfStream(call: Call): void {
  if (call.refusedNow !== undefined && call.exchange.isStream) cut(call, call.refusedNow)
}

/** Refuses a call that has no response yet; breaks off one whose response has begun. */
function cut(call: Call, problem: Problem): void {
  const { exchange } = call
  if (!exchange.started) call.refuse(problem)
  exchange.sever()
}

function tooManyAtOnce(): Problem {
  return new Problem('rate_limited', `The key has ${maxPerKey} calls under way already.`, {
    headers: { 'Retry-After': '1' },
  })
}
