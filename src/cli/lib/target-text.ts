import { renderRule, type RulePreview, type Target } from '../../targets/index.ts'
import { renderTable } from './table.ts'

const maxListed = 20

/** Formats a target's rules as numbered lines, followed by a line for the calls that no rule decides. */
export function rulesText(target: Target): string {
  const lines = target.rules.map((rule, at) => `  ${at + 1}. ${renderRule(rule)}`)
  return ['Rules, the first that matches decides:', ...lines, `  ${lastLineText(target)}`].join(
    '\n',
  )
}

function lastLineText({ lastLine, otherwise }: Target): string {
  if (otherwise !== undefined) return `otherwise: ${lastLine}`
  const why = lastLine === 'refuse' ? 'an allow rule is in force' : 'no allow rule is in force'
  return `otherwise: ${lastLine} (nobody set it, and ${why})`
}

export function targetText(target: Target, baseUrl: string): string {
  const { settings } = target
  const { quota } = settings
  const rows: [string, string][] = [
    ['Target', `${target.slug} (${target.id})`],
    ['Name', target.name],
    ['Address', `${baseUrl}/api/v1/intercept/${target.slug}/`],
    ['Upstream', target.upstream],
    ['State', target.disabledAt === undefined ? 'enabled' : 'disabled'],
    ['Credential', target.credentialHeader ?? 'none'],
    ['Rate', rateText(settings)],
    ['Quota', quota ? `${quota.calls} calls a ${quota.period}` : 'none'],
    ['Paths', settings.paths],
    ['Browsers', settings.browsers ? 'may call' : 'refused'],
    ['Assertion', settings.assertion ? 'sent' : 'not sent'],
    ['Records', settings.records],
    ['Body', settings.bodyBytes === 0 ? 'none' : `up to ${count(settings.bodyBytes)} bytes`],
    ['Connect', `within ${count(settings.connectMs)} ms`],
    ['First byte', `within ${count(settings.firstByteMs)} ms`],
    ['Idle', `up to ${count(settings.idleMs)} ms`],
  ]
  const facts = rows.map(([name, value]) => `${name.padEnd(11)} ${value}`)
  return [...facts, rulesText(target)].join('\n')
}

function rateText({ rateLimit, rateScope }: Target['settings']): string {
  if (rateLimit === undefined) return 'not limited'
  const where = rateScope === 'node' ? ' on each node' : ''
  return `${rateLimit.calls} calls in ${rateLimit.perSeconds} s${where}`
}

/**
 * Formats what rules would have done: one sentence, and up to `maxListed` groups of calls that they would have refused.
 */
export function previewText(preview: RulePreview): string {
  const { calls, refused, newlyRefused, newlyAllowed, list, complete } = preview
  const of = `${count(refused)} of ${count(calls)} calls would be refused`
  const change = [
    ...(newlyRefused > 0 ? [`${count(newlyRefused)} of them are allowed today`] : []),
    ...(newlyAllowed > 0 ? [`${count(newlyAllowed)} refused today would be allowed`] : []),
  ].join('; ')
  const newest = complete ? '' : ' (the newest of more)'
  const sentence = `In the last 24 hours${newest}: ${of}${change === '' ? '' : `; ${change}`}.`
  if (list.length === 0) return sentence
  const rows = list
    .slice(0, maxListed)
    .map(({ calls: n, method, path, rule, isNew }) => [
      count(n),
      method,
      path,
      rule === undefined ? 'otherwise' : `rule ${rule}`,
      isNew ? 'new' : '',
    ])
  const table = renderTable(['CALLS', 'METHOD', 'PATH', 'REFUSED BY', ''], rows, '')
  const listed = list.slice(0, maxListed).reduce((sum, group) => sum + group.calls, 0)
  const more = refused > listed ? `\nand ${count(refused - listed)} more` : ''
  return `${sentence}\n${table}${more}`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
