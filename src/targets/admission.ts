import type { KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { GuardedTarget } from './guarded-target.ts'
import type { Limits } from './limits.ts'
import type { Decision } from './rules.ts'
import { askRulesOfAll, refusalOf } from './ask-rules.ts'
import type { Asked, Check } from './asked.ts'
import { checkReadable, findTarget } from './find-target.ts'
import { checkAddress, checkBrowser, type BrowserSigns } from './call-origin.ts'

/** Somebody whose key is known, and where the request comes from. */
export interface Caller {
  readonly principal: KeyPrincipal
  readonly address: string
  readonly signs: BrowserSigns
  readonly method: string
  /** The target that is named, if there is one; whether the key may reach it is a check. */
  readonly named: GuardedTarget | undefined
}

/** A call of a known caller, to be judged. */
export interface Question extends Caller {
  readonly asked: Asked
  /** The call's own; a proxy that does not say which asks about all. At least one. */
  readonly methods: readonly string[]
  readonly limits: Limits
  /** Whether the call is counted. */
  readonly spend: boolean
}

/** What is known of a call once its target is. */
export interface Located {
  readonly target: GuardedTarget
}

/** What is known once the rules were asked, whatever they said. */
export interface Decided extends Located {
  readonly decision: Decision
}

/** A call that passed every check. */
export interface Admitted extends Decided {
  readonly isAdmitted: true
  /** What its response says of limits, a flat list. */
  readonly limitHeaders: readonly string[]
}

/** A call that stopped at a check. */
export interface Refused {
  readonly isAdmitted: false
  readonly stoppedAt: Check
  /** A `Problem`, or what went wrong with the check itself. */
  readonly error: unknown
  readonly known: Located | Decided | undefined
}

export type Verdict = Admitted | Refused

/** What the rules said, if the checks came so far. */
export function decisionOf(known: Located | Decided | undefined): Decision | undefined {
  return known !== undefined && 'decision' in known ? known.decision : undefined
}

/**
 * One check: it gives the next one what that needs, or refuses. The refusals that callers run into by the thousand are
 * given back, since throwing one costs as much as all the checks together; the others are thrown.
 */
interface Step<Asks, Given, Found> {
  readonly name: Check
  readonly ask: (question: Asks, given: Given) => Found | Problem | Promise<Found | Problem>
}

/** Where the request comes from, whatever it asks for. */
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

/** Every check of a call whose key is known, in its order: calls, proxies' questions and trials run this table. */
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

/** Judges a call; in the same turn where nobody has to be waited for. */
export function admit(question: Question): Verdict | Promise<Verdict> {
  return run(ofCall, question) as Verdict | Promise<Verdict>
}

/** Judges a request that asks for no target; undefined when nothing is against it. */
export function checkCaller(caller: Caller): Refused | undefined {
  return run(ofCaller, caller) as Refused | undefined
}

type Steps = readonly Step<never, never, unknown>[]

/** What the last check found, or where the request stopped. */
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

/** Only the last check may have to wait. */
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

/** Lets a table compile only where each check finds what the next one needs. */
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
