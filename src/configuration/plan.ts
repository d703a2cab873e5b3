import type { Configuration, TargetEntry } from './configuration.ts'

/** One difference: what is added, changed field by field, or removed. */
export interface Difference {
  readonly change: 'add' | 'change' | 'remove'
  readonly subject: string
  readonly fields: readonly {
    readonly field: string
    readonly before: unknown
    readonly after: unknown
  }[]
}

/**
 * What an apply would do. `secretsThatDiffer` are the slugs whose credential is another one; what it is appears
 * nowhere. Only targets that `prunable` names are removed.
 */
export function planConfiguration(
  present: Configuration | undefined,
  wanted: Configuration,
  of: { readonly secretsThatDiffer: ReadonlySet<string>; readonly prunable: readonly string[] },
): Difference[] {
  const { slug } = wanted.organization
  const before = new Map(present?.targets.map((target) => [target.slug, target]))
  const wantedSlugs = new Set(wanted.targets.map((target) => target.slug))
  const gone = of.prunable.filter((one) => before.has(one) && !wantedSlugs.has(one))
  const whole =
    present === undefined
      ? [{ change: 'add', subject: `organization ${slug}`, fields: [] } as const]
      : changed(`organization ${slug}`, settingsOf(present), settingsOf(wanted))
  return [
    ...whole,
    ...wanted.targets.flatMap((target) => ofTarget(before.get(target.slug), target, of)),
    ...gone.map((one) => ({ change: 'remove', subject: `target ${one}`, fields: [] }) as const),
  ]
}

function ofTarget(
  before: TargetEntry | undefined,
  after: TargetEntry,
  { secretsThatDiffer }: { readonly secretsThatDiffer: ReadonlySet<string> },
): Difference[] {
  const subject = `target ${after.slug}`
  if (before === undefined) {
    return [{ ...(changed(subject, {}, flat(after))[0] ?? { subject, fields: [] }), change: 'add' }]
  }
  const found = changed(subject, flat(before), flat(after))
  if (!secretsThatDiffer.has(after.slug)) return found
  const secret = {
    field: 'credential.value',
    before: 'another secret',
    after: after.credential?.value,
  }
  return [{ change: 'change', subject, fields: [...(found[0]?.fields ?? []), secret] }]
}

function settingsOf({ organization, key_defaults: defaults }: Configuration) {
  return { name: organization.name, ...defaults }
}

/** References are no difference: only the secrets behind them are. */
function flat({ credential, settings, ...rest }: TargetEntry): Record<string, unknown> {
  return { ...rest, 'credential.header': credential?.header ?? null, ...settings }
}

function changed(
  subject: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const fields = names
    .filter((name) => canonical(before[name]) !== canonical(after[name]))
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
  return fields.length === 0 ? [] : [{ change: 'change', subject, fields }]
}

/** The same text for the same value, in whatever order its members stand. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${members
    .map(([name, inner]) => `${name}:${canonical(inner)}`)
    .toSorted()
    .join()}}`
}
