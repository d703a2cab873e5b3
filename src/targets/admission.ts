import type { KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Limits } from './limits.ts'
import type { Decision } from './rules.ts'
import { askRulesOfAll, refusalOf } from './ask-rules.ts'
import type { Asked, Check } from './asked.ts'
import { checkReadable, findTarget } from './find-target.ts'
import { checkAddress, checkBrowser, type BrowserSigns } from './call-origin.ts'

/** An identified caller, and where the request comes from. */
export interface Caller {
  readonly principal: KeyPrincipal
  readonly address: string
  readonly signs: BrowserSigns
  readonly method: string
  /** The named target, if it exists; a later check decides whether the key may reach it. */
  readonly named: GuardedTarget | undefined
}

/** A call by an identified caller, to be decided. */
export interface Question extends Caller {
  readonly asked: Asked
  /** The methods to check, at least one: the call's own, or all methods for a proxy that does not name the method. */
  readonly methods: readonly string[]
  readonly limits: Limits
  /** Whether the call counts against limits. */
  readonly spend: boolean
}

/** The facts known about a call once its target has been found. */
export interface Located {
  readonly target: GuardedTarget
}

/** The facts known once the rules have been evaluated, whatever their result. */
export interface Decided extends Located {
  readonly decision: Decision
}

export interface Admitted extends Decided {
  readonly isAdmitted: true
  /** The response's rate-limit headers, as a flat list. */
  readonly limitHeaders: readonly string[]
}

export interface Refused {
  readonly isAdmitted: false
  readonly stoppedAt: Check
  /** A `Problem`, or the error that broke the check itself. */
  readonly error: unknown
  readonly known: Located | Decided | undefined
}

export type Verdict = Admitted | Refused

/** Returns the rules' decision; undefined if the checks did not get that far. */
export function decisionOf(known: Located | Decided | undefined): Decision | undefined {
  return known !== undefined && 'decision' in known ? known.decision : undefined
}

/**
 * One check: it returns what the next one needs, or refuses. Frequent refusals are returned, because throwing one costs
 * as much as all the checks together; rare ones are thrown.
 */
interface Step<Asks, Given, Found> {
  readonly name: Check
  readonly ask: (question: Asks, given: Given) => Found | Problem | Promise<Found | Problem>
}

/** The checks of where a request comes from. They also apply to a request that names no target. */
const ofCaller: readonly [Step<Caller, void, void>, Step<Caller, void, void>] = [
  {
    name: 'address',
    ask: ({ principal, address }) => checkAddress(principal, address),
  },
  {
    name: 'browser',
    ask: ({ signs, method, named }) => checkBrowser(signs, method, named),
  },
]

/** The checks of a call with an identified key, in order. Forward-auth questions about a target run them too. */
const ofCall = inOrder([
  ...ofCaller,
  {
    name: 'target',
    ask: ({ principal, asked, named, methods }: Question): Located => {
      checkReadable(asked)
      return { target: findTarget({ slug: asked.slug, target: named }, principal, methods) }
    },
  },
  {
    name: 'rules',
    ask: ({ methods, asked }: Question, { target }: Located): Decided => ({
      target,
      decision: askRulesOfAll(target, methods, asked.path),
    }),
  },
  {
    name: 'rules',
    ask: (_question: Question, decided: Decided): Decided | Problem =>
      refusalOf(decided.decision, decided.target) ?? decided,
  },
  {
    name: 'limits',
    ask: ({ limits, principal, spend }: Question, decided: Decided) => {
      const headers = limits.ask(principal, decided.target, spend)
      return headers instanceof Promise
        ? headers.then((later) => admitted(decided, later))
        : admitted(decided, headers)
    },
  },
])

/** Decides a call; synchronously unless a check has to wait. */
export function admit(question: Question): Verdict | Promise<Verdict> {
  return run(ofCall, question) as Verdict | Promise<Verdict>
}

/** Decides a request that names no target; undefined if it is allowed. */
export function checkCaller(caller: Caller): Refused | undefined {
  return run(ofCaller, caller) as Refused | undefined
}

/**
 * Runs the checks of a call in progress again, except the limits, with its key and its target as they are now. Returns
 * the refusal, or undefined if the call would still be admitted.
 */
export function checkAgain(question: Omit<Question, 'limits' | 'spend'>): Refused | undefined {
  const found = run(ofCall.slice(0, -1), question) as Decided | Refused
  return 'isAdmitted' in found ? found : undefined
}

type Steps = readonly Step<never, never, unknown>[]

/** Runs checks in order; returns the result of the last one, or the refusal of the first one that refuses. */
function run(steps: Steps, question: Caller): unknown {
  let found: unknown
  let at = 0
  try {
    for (; at < steps.length; at++) {
      const next = steps[at]?.ask(question as never, found as never)
      if (next instanceof Promise) return settle(next, found)
      if (next instanceof Problem) return refusedAt(steps[at], next, found)
      found = next
    }
  } catch (error) {
    return refusedAt(steps[at], error, found)
  }
  return found
}

/** Awaits the last check, the only one that may be asynchronous. */
async function settle(last: Promise<unknown>, known: unknown): Promise<Verdict> {
  try {
    const settled = await last
    return settled instanceof Problem ? refusedAt(atLimits, settled, known) : (settled as Admitted)
  } catch (error) {
    return refusedAt(atLimits, error, known)
  }
}

const atLimits = { name: 'limits' } as const

function refusedAt(
  step: { readonly name: Check } | undefined,
  error: unknown,
  known: unknown,
): Refused {
  const stoppedAt = step?.name ?? 'address'
  return { isAdmitted: false, stoppedAt, error, known: known as Refused['known'] }
}

function admitted(
  { target, decision }: Decided,
  limitHeaders: readonly string[] | Problem,
): Admitted | Problem {
  if (limitHeaders instanceof Problem) return limitHeaders
  return { isAdmitted: true, target, decision, limitHeaders }
}

/** Returns the table unchanged. The code compiles only if each check returns what the next one needs. */
function inOrder<A, B, C>(
  steps: readonly [
    ...typeof ofCaller,
    Step<Question, void, A>,
    Step<Question, A, B>,
    Step<Question, B, C>,
    Step<Question, C, Admitted>,
  ],
): Steps {
  return steps
}
