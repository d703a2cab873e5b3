import { snakeCased } from '../../store/index.ts'
import { Problem } from '../../errors.ts'
import {
  parseRule,
  previewJson,
  type LastLine,
  type Target,
  type TargetInput,
} from '../../targets/index.ts'
import type { Rate } from '../../rate.ts'
import { parseRecordChoice, type RecordChoice } from '../../record-choice.ts'
import { parseCallsPerSeconds, parseDuration, parseSize } from '../../units.ts'
import { command, need, read, readWord, refuseBoth, UsageError } from '../lib/command.ts'
import { baseUrlOf, organizationsOf, targetsOf } from '../lib/nouns.ts'
import { withServices } from '../lib/services.ts'
import { isoTime, renderTable } from '../lib/table.ts'
import { previewText, rulesText, targetText } from '../lib/target-text.ts'

export const commands = {
  set: command({
    usage:
      "<org> <slug> [--upstream URL] [--header 'Name: value' | --no-header] [--rate 100/s|none] [--rate-scope all|node] [--rule 'deny DELETE /admin/*']… [--no-rules] [--otherwise allow|refuse|default] [--dry-run] [--paths canonical|verbatim] [--body 100MiB] [--connect 5s] [--records all|refused|'sampled 1/10'|none] [--first-byte 60s] [--idle 300s] [--browsers | --no-browsers] [--assertion | --no-assertion] [--disabled | --enabled] [--name NAME]",
    about: 'make a target or change it; what is left out stays',
    options: {
      upstream: {
        type: 'string',
        value: 'URL',
        about: 'where calls go: http:// or https://, perhaps with a path',
      },
      name: { type: 'string', value: 'NAME', about: 'what people see; the slug unless given' },
      header: {
        type: 'string',
        value: "'NAME: VALUE'",
        about: "the upstream's own credential, injected into every call and stored sealed",
      },
      'no-header': { type: 'boolean', about: 'take the credential away' },
      rate: {
        type: 'string',
        value: 'RATE',
        about: 'calls of all keys together, such as 100/s or 5/10s, or none',
      },
      'rate-scope': {
        type: 'string',
        value: 'all|node',
        about: 'whether the rate holds over all nodes together, or on each of them',
      },
      rule: {
        type: 'string',
        multiple: true,
        value: 'RULE',
        about:
          "'[trial] allow|deny METHODS PATH'; may be given more than once, the first that matches decides. Replaces all rules",
      },
      'no-rules': { type: 'boolean', about: 'take all rules away' },
      otherwise: {
        type: 'string',
        value: 'allow|refuse|default',
        about:
          'what becomes of calls that no rule decides; default: refuse as soon as an allow rule is in force',
      },
      'dry-run': {
        type: 'boolean',
        about: 'say what the rules would do to the calls of the last 24 hours, and save nothing',
      },
      records: {
        type: 'string',
        value: 'all|refused|none|SAMPLE',
        about:
          "which calls leave a record; a SAMPLE is 'sampled 1/10'; counts are exact in any case",
      },
      paths: {
        type: 'string',
        value: 'canonical|verbatim',
        about: 'verbatim lets %2F and // through for upstreams that need them',
      },
      body: { type: 'string', value: 'SIZE', about: 'the largest request body, such as 100MiB' },
      connect: {
        type: 'string',
        value: 'TIME',
        about: 'how long connecting to the upstream may take',
      },
      'first-byte': {
        type: 'string',
        value: 'TIME',
        about: 'how long the upstream may take to begin its response',
      },
      idle: { type: 'string', value: 'TIME', about: 'how long a connection may be silent' },
      browsers: { type: 'boolean', about: 'let keys come from browser pages' },
      'no-browsers': { type: 'boolean', about: 'refuse calls from browser pages' },
      assertion: {
        type: 'boolean',
        about: 'send Intercept-Assertion, a signed statement of who calls',
      },
      'no-assertion': { type: 'boolean', about: 'send it no longer' },
      disabled: { type: 'boolean', about: 'refuse all calls' },
      enabled: { type: 'boolean', about: 'take calls again' },
    },
    examples: [
      'intercept target set acme payments --upstream https://payments.internal:8443',
      "intercept target set acme payments --rule 'deny DELETE /admin/*' --rule 'allow * /v1/*' --dry-run",
      'intercept target set acme payments --otherwise refuse',
    ],
    run: async ({ values, positionals: [slug = '', targetSlug = ''] }, terminal) => {
      if (targetSlug === '') throw new UsageError('Name the target')
      const input = readInput(values)
      return await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const targets = await targetsOf(services)
        const present = await findTarget(targets, organization.id, targetSlug)
        if (present === undefined) {
          const upstream = need('--upstream', values.upstream)
          const creation = { ...input, slug: targetSlug, upstream }
          if (values['dry-run'] === true)
            throw new UsageError('--dry-run is for a target that exists')
          const made = await targets.create(organization.id, creation, services.actor)
          const text = `Target ${made.slug} (${made.id}) of ${organization.slug}: ${baseUrlOf(services)}/api/v1/intercept/${made.slug}/ → ${made.upstream}\n${rulesText(made)}`
          return { data: shown(made), text }
        }
        const preview =
          input.rules === undefined && input.otherwise === undefined
            ? undefined
            : await targets.preview(
                { organizationId: organization.id, idOrSlug: present.id },
                input,
              )
        const foreseen = preview && previewJson(preview)
        if (values['dry-run'] === true) {
          const text = preview === undefined ? 'Its rules stay as they are.' : previewText(preview)
          return { data: { ...shown(present), preview: foreseen ?? null, saved: false }, text }
        }
        const edited = await targets.edit(
          { organizationId: organization.id, idOrSlug: present.id },
          input,
          services.actor,
        )
        const dropped = edited.credentialDropped
          ? ' The upstream moved to another origin, so its credential was dropped: set --header again.'
          : ''
        return {
          data: {
            ...shown(edited.target),
            credential_dropped: edited.credentialDropped,
            nodes: edited.confirmation.nodes,
            silent_nodes: edited.confirmation.silentNodes,
            took_ms: edited.confirmation.tookMs,
            ...(foreseen === undefined ? {} : { preview: foreseen }),
          },
          text: [
            ...(preview === undefined ? [] : [previewText(preview)]),
            `Target ${present.slug} (${present.id}) is changed, on every node after ${edited.confirmation.tookMs} ms.${dropped}`,
            rulesText(edited.target),
          ].join('\n'),
        }
      })
    },
  }),
  list: command({
    usage: '<org>',
    about: "list an organization's targets",
    examples: ['intercept target list acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const found = await (await targetsOf(services)).list(organization.id)
        const rows = found.map((target) => [
          target.id,
          target.slug,
          target.upstream,
          target.credentialHeader ?? '–',
          String(target.rules.length),
          target.disabledAt === undefined ? 'enabled' : 'disabled',
        ])
        const text = renderTable(
          ['ID', 'SLUG', 'UPSTREAM', 'CREDENTIAL', 'RULES', 'STATE'],
          rows,
          `No target yet; \`intercept target set ${organization.slug} echo --upstream http://echo.intercept.internal/\` makes one.`,
        )
        return { data: found.map(shown), text }
      }),
  }),
  show: command({
    usage: '<org> <slug>',
    about: 'show one target with its rules and its last line',
    examples: ['intercept target show acme payments'],
    run: async ({ positionals: [slug = '', targetSlug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const target = await (await targetsOf(services)).get(organization.id, targetSlug)
        return { data: shown(target), text: targetText(target, baseUrlOf(services)) }
      }),
  }),
  remove: command({
    usage: '<org> <slug>',
    about: 'remove a target; calls to it are 404 from then on',
    examples: ['intercept target remove acme payments'],
    run: async ({ positionals: [slug = '', targetSlug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        await (await targetsOf(services)).remove(organization.id, targetSlug, services.actor)
        return { data: { slug: targetSlug, removed: true }, text: `Target ${targetSlug} is gone.` }
      }),
  }),
}

async function findTarget(
  targets: Awaited<ReturnType<typeof targetsOf>>,
  organizationId: Target['organizationId'],
  slug: string,
): Promise<Target | undefined> {
  try {
    return await targets.get(organizationId, slug)
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}

interface WishValues {
  readonly [name: string]: string | boolean | string[] | undefined
}

const opposites = [
  ['header', 'no-header'],
  ['rule', 'no-rules'],
  ['browsers', 'no-browsers'],
  ['assertion', 'no-assertion'],
  ['disabled', 'enabled'],
] as const

function readInput(values: WishValues): TargetInput {
  for (const [one, other] of opposites) refuseBoth(values, one, other)
  const text = (name: string) => values[name] as string | undefined
  const duration = (name: string) =>
    optional(text(name), (t) => read(`--${name}`, t, parseDuration))
  return {
    name: text('name'),
    upstream: text('upstream'),
    credential: values['no-header'] === true ? null : optional(text('header'), parseHeader),
    rules:
      values['no-rules'] === true ? [] : (values['rule'] as string[] | undefined)?.map(parseRule),
    otherwise: optional(text('otherwise'), parseOtherwise),
    disabled: readSwitch(values, 'disabled', 'enabled'),
    settings: {
      rateLimit: optional(text('rate'), parseRate),
      rateScope: optional(text('rate-scope'), (t) => readWord('--rate-scope', t, ['all', 'node'])),
      records: optional(text('records'), parseRecords),
      paths: optional(text('paths'), (t) => readWord('--paths', t, ['canonical', 'verbatim'])),
      bodyBytes: optional(text('body'), (t) => read('--body', t, parseSize)),
      connectMs: duration('connect'),
      firstByteMs: duration('first-byte'),
      idleMs: duration('idle'),
      browsers: readSwitch(values, 'browsers', 'no-browsers'),
      assertion: readSwitch(values, 'assertion', 'no-assertion'),
    },
  }
}

function readSwitch(values: WishValues, on: string, off: string): boolean | undefined {
  if (values[on] === true) return true
  return values[off] === true ? false : undefined
}

function parseRate(text: string): Rate | null {
  return text === 'none' ? null : read('--rate', text, parseCallsPerSeconds)
}

function parseRecords(text: string): RecordChoice {
  const choice = parseRecordChoice(text)
  if (choice !== undefined) return choice
  throw new UsageError("--records must be all, refused, none or 'sampled 1/n'")
}

/** Parses the action for calls that no rule decides; `default` becomes null, which removes the setting. */
function parseOtherwise(text: string): LastLine | null {
  const word = readWord('--otherwise', text, ['allow', 'refuse', 'default'])
  return word === 'default' ? null : word
}

function parseHeader(text: string): { header: string; value: string } {
  const [, header = '', value = ''] = /^([^:\s]+):\s*(.+)$/.exec(text) ?? []
  if (header === '') throw new UsageError("--header has the form 'Name: value'")
  return { header, value }
}

function optional<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined ? undefined : parse(text)
}

function shown(target: Target): Record<string, unknown> {
  return {
    id: target.id,
    slug: target.slug,
    name: target.name,
    upstream: target.upstream,
    credential_header: target.credentialHeader ?? null,
    settings: snakeCased(target.settings),
    rules: target.rules,
    otherwise: target.lastLine,
    otherwise_set: target.otherwise !== undefined,
    disabled: target.disabledAt !== undefined,
    created_at: isoTime(target.createdAt),
    version: target.version,
  }
}
