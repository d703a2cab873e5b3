import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { calls, type Store, type TargetRecord } from '../store/index.ts'
import { askRules } from './ask-rules.ts'
import { gatewayPrefix } from './asked.ts'
import { checkRules, type RuleInput } from './rule-text.ts'
import { compileRule, lastLineOf, type Decision, type LastLine, type RuleList } from './rules.ts'

import type { TargetSettings } from './settings.ts'
import { createBreath } from '../timers.ts'
import { dayMs } from '../units.ts'

/** The result of applying rules to the recorded calls of the last 24 hours. */
export interface RulePreview {
  readonly from: number
  /** Recorded calls that reach the rules. */
  readonly calls: number
  readonly refused: number
  /** Calls that the current rules allow and the new ones would refuse. */
  readonly newlyRefused: number
  /** Calls that the current rules refuse and the new ones would allow. */
  readonly newlyAllowed: number
  /**
   * False if not all recorded calls were examined: either there were too many, and only the newest were examined, or
   * the preview was aborted.
   */
  readonly complete: boolean
  readonly lastLine: LastLine
  /** The refused calls by method and path, most frequent first; the rest are only counted. */
  readonly list: readonly RefusedCalls[]
  readonly others: number
}

/** Refused calls with the same method and path. */
export interface RefusedCalls {
  readonly method: string
  /** Relative to the target. */
  readonly path: string
  readonly calls: number
  /** The number of the refusing rule, starting at 1; undefined if the last line refused. */
  readonly rule: number | undefined
  readonly isNew: boolean
  /** The newest of these calls. */
  readonly lastId: string
  readonly lastAt: number
}

/** Draft rules that are not saved yet; omitted fields keep their current value. */
export interface RuleDraft {
  readonly rules?: readonly RuleInput[] | undefined
  /** null restores the default. */
  readonly otherwise?: LastLine | null | undefined
}

const previewedMs = dayMs
const maxCalls = 1_000_000
const pageSize = 1000
const maxRemembered = 20_000
const maxGroups = 1000
const maxListed = 100
const rowsBetweenLooks = 32

/**
 * Replays a target's recorded calls of the last 24 hours through unsaved rules, up to `maxCalls` or until aborted.
 * Throws `invalid_input` if the rules are invalid.
 */
export async function previewRules(
  target: Pick<TargetRecord, 'id' | 'organizationId' | 'rules' | 'otherwise'> & {
    readonly settings: TargetSettings
  },
  draft: RuleDraft,
  deps: { readonly store: Store; readonly clock: Clock; readonly signal?: AbortSignal | undefined },
): Promise<RulePreview> {
  const present = { rules: target.rules, otherwise: target.otherwise }
  const rules = draft.rules === undefined ? target.rules : checkRules(draft.rules, target.rules)
  const otherwise =
    draft.otherwise === undefined ? target.otherwise : (draft.otherwise ?? undefined)
  const replay = new Replay(target.settings, compile(present), compile({ rules, otherwise }))
  const from = deps.clock.now() - previewedMs
  const { organizationId, id: targetId } = target
  const breath = createBreath(deps.clock)
  let before: string | undefined
  let looked = 0
  while (looked < maxCalls && deps.signal?.aborted !== true) {
    const page = { targetId, from, before, limit: pageSize }
    const rows = await calls.listAskedRules(deps.store.slowCallReads, organizationId, page)
    for (const [index, row] of rows.entries()) {
      replay.add(row)
      if (index % rowsBetweenLooks === 0) await breath()
    }
    looked += rows.length
    before = rows.at(-1)?.id
    if (rows.length < pageSize) return replay.report({ from, complete: true })
  }
  return replay.report({ from, complete: false })
}

function compile(list: {
  readonly rules: TargetRecord['rules']
  readonly otherwise: LastLine | undefined
}): RuleList {
  return {
    rules: list.rules.map((rule) => compileRule(rule.id, rule)),
    otherwise: lastLineOf(list),
  }
}

interface Verdict {
  /** Undefined for a path that is refused whatever the rules are. */
  readonly present: Decision | undefined
  readonly drafted: Decision | undefined
}

type Row = Awaited<ReturnType<typeof calls.listAskedRules>>[number]

/** Runs calls through the current and the draft rules, and counts the results. */
class Replay {
  readonly #settings: TargetSettings
  readonly #present: RuleList
  readonly #drafted: RuleList
  readonly #verdicts = new Map<string, Verdict>()
  readonly #groups = new Map<string, RefusedCalls>()
  #calls = 0
  #refused = 0
  #newlyRefused = 0
  #newlyAllowed = 0

  constructor(settings: TargetSettings, present: RuleList, drafted: RuleList) {
    this.#settings = settings
    this.#present = present
    this.#drafted = drafted
  }

  add(row: Row): void {
    const path = belowTarget(row.path)
    const name = `${row.method} ${path}`
    const { present, drafted } = this.#verdictOf(name, row.method, path)
    if (present === undefined || drafted === undefined) return
    this.#calls++
    if (drafted.allowed) {
      if (!present.allowed) this.#newlyAllowed++
      return
    }
    this.#refused++
    if (present.allowed) this.#newlyRefused++
    const group = this.#groups.get(name)
    if (group !== undefined) {
      this.#groups.set(name, { ...group, calls: group.calls + 1 })
    } else if (this.#groups.size < maxGroups) {
      const { method, id: lastId, at: lastAt } = row
      const index = this.#drafted.rules.findIndex((rule) => rule.id === drafted.ruleId)
      const rule = index === -1 ? undefined : index + 1
      this.#groups.set(name, {
        method,
        path,
        calls: 1,
        rule,
        isNew: present.allowed,
        lastId,
        lastAt,
      })
    }
  }

  report(of: Pick<RulePreview, 'from' | 'complete'>): RulePreview {
    const groups = [...this.#groups.values()].toSorted((one, other) => other.calls - one.calls)
    const list = groups.slice(0, maxListed)
    return {
      ...of,
      calls: this.#calls,
      refused: this.#refused,
      newlyRefused: this.#newlyRefused,
      newlyAllowed: this.#newlyAllowed,
      lastLine: lastLineOf(this.#drafted),
      list,
      others: this.#refused - list.reduce((sum, group) => sum + group.calls, 0),
    }
  }

  #verdictOf(name: string, method: string, path: string): Verdict {
    const known = this.#verdicts.get(name)
    if (known !== undefined) return known
    const verdict = {
      present: this.#ask(this.#present, method, path),
      drafted: this.#ask(this.#drafted, method, path),
    }
    if (this.#verdicts.size >= maxRemembered) this.#verdicts.clear()
    this.#verdicts.set(name, verdict)
    return verdict
  }

  #ask(list: RuleList, method: string, path: string): Decision | undefined {
    try {
      return askRules({ ...list, settings: this.#settings }, method, path)
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  }
}

/** Returns the path below the target, taken from a recorded path. */
function belowTarget(recorded: string): string {
  const end = recorded.indexOf('/', gatewayPrefix.length + 1)
  return end === -1 ? '/' : recorded.slice(end)
}

/** Renders a preview in the form used by the API and `--json`. */
export function previewJson(preview: RulePreview) {
  const iso = (ms: number): string => new Date(ms).toISOString()
  return {
    from: iso(preview.from),
    calls: preview.calls,
    refused: preview.refused,
    newly_refused: preview.newlyRefused,
    newly_allowed: preview.newlyAllowed,
    complete: preview.complete,
    otherwise: preview.lastLine,
    items: preview.list.map((group) => ({
      method: group.method,
      path: group.path,
      calls: group.calls,
      rule: group.rule ?? null,
      newly: group.isNew,
      last_call_id: group.lastId,
      last_at: iso(group.lastAt),
    })),
    others: preview.others,
  }
}
