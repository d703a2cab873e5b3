import { targets as targetRows } from '../../store/index.ts'
import {
  openCredential,
  parseRule,
  renderRule,
  tidyRule,
  type Target,
  type TargetInput,
  type TargetSettings,
} from '../../targets/index.ts'
import {
  flag,
  formed,
  nameField,
  nullable,
  object,
  quota,
  rate,
  reference,
  text,
  texts,
  whole,
  words,
} from './fields.ts'
import { inField, noSecrets, type Entry, type Section } from './section.ts'
import { camelCased, snakeCasedMembers } from './casing.ts'

/** Maps a setting's internal name to its name in configuration files. */
const settingNames: Readonly<Record<keyof TargetSettings, string>> = {
  paths: 'paths',
  browsers: 'browsers',
  rateLimit: 'rate_limit',
  rateScope: 'rate_scope',
  quota: 'quota',
  bodyBytes: 'body_bytes',
  connectMs: 'connect_ms',
  firstByteMs: 'first_byte_ms',
  idleMs: 'idle_ms',
  records: 'records',
  assertion: 'assertion',
  answerHeaders: 'response_headers',
  capture: 'capture',
  ca: 'ca',
}

const capture = object(
  {
    headers: texts(50, 'Headers that are kept.'),
    body_bytes: whole(0, 16_384, 'The first bytes of each body that are kept.'),
    redact: texts(50, 'Members whose values are blacked out.'),
  },
  ['headers', 'body_bytes', 'redact'],
)

const schema = object(
  {
    name: nameField('What people see.'),
    upstream: text(2000, 'Where calls go: protocol, host, port and perhaps a path.'),
    credential: object({ header: text(64, 'The header that carries it.'), value: reference }, [
      'header',
      'value',
    ]),
    rules: texts(200, 'In order; the first that matches decides: [trial] allow|deny METHODS PATH.'),
    otherwise: nullable(words(['allow', 'refuse'], 'What becomes of calls that no rule decides.')),
    disabled: flag('Whether every call is refused.'),
    paths: words(['canonical', 'verbatim'], 'Whether %2F and // go upstream as they are.'),
    browsers: flag('Whether keys may come from browser pages.'),
    rate_limit: nullable(rate),
    rate_scope: words(['all', 'node'], 'Whether the rate holds over all nodes or on each.'),
    quota: nullable(quota),
    body_bytes: whole(0, Number.MAX_SAFE_INTEGER, 'The largest body that is forwarded.'),
    connect_ms: whole(1, 60_000, 'Milliseconds to connect.'),
    first_byte_ms: whole(1, 3_600_000, 'Milliseconds to the first byte.'),
    idle_ms: whole(1, 86_400_000, 'Milliseconds without a byte.'),
    records: formed(
      '^(all|refused|none|sampled 1/[1-9][0-9]{0,6})$',
      'must be all, refused, none or sampled 1/n',
      'Which calls leave a record.',
    ),
    assertion: flag('Whether calls carry Intercept-Assertion.'),
    response_headers: texts(20, 'Headers that are let through although they act on our origin.'),
    capture: nullable(capture),
    ca: nullable(text(20_000, 'A CA certificate (PEM) to trust for the upstream.')),
  },
  ['upstream'],
)

/** The guarded APIs, with their rules and settings. */
export const targetSection: Section = {
  key: 'targets',
  noun: 'target',
  permission: 'targets.manage',
  hasUniqueNames: true,
  schema,
  loose: [],
  secretPaths: ({ credential }) =>
    credential === undefined || credential === null ? [] : ['credential.value'],
  defaults: (name, _entry, { defaults }) => ({
    name,
    credential: null,
    rules: [],
    otherwise: null,
    disabled: false,
    ...toFile(defaults),
  }),
  tidy,
  async present({ organization, services }) {
    const { targets, store, sealer } = services
    const rows = await targetRows.list(store, organization.id)
    const credentials = new Map(rows.map((row) => [row.id, openCredential(row, sealer)]))
    return (await targets.list(organization.id)).map((target) => {
      const secret = credentials.get(target.id)
      const secrets = secret === undefined ? noSecrets : new Map([['credential.value', secret]])
      return { id: target.id, name: target.slug, entry: entryOf(target), secrets }
    })
  },
  async put({ name, entry, before, secretAt }, { organization, services, actor }) {
    const { targets } = services
    if (before === undefined) {
      const upstream = String(entry['upstream'])
      const input = { ...toInput(entry, secretAt), slug: name, upstream }
      return (await targets.create(organization.id, input, actor)).id
    }
    const { rules } = await targets.get(organization.id, before.id)
    const ids = new Map(rules.map((rule) => [renderRule(rule), rule.id]))
    const input = toInput(entry, secretAt, ids)
    return (
      await targets.edit({ organizationId: organization.id, idOrSlug: before.id }, input, actor)
    ).target.id
  },
  remove: async (id, { organization, services, actor }) =>
    await services.targets.remove(organization.id, id, actor),
}

function tidied(line: unknown, index: number): string {
  return inField(`rules[${index}]`, () => tidyRule(String(line)))
}

/** Normalizes rules, completes the upstream's URL and converts header names to lower case. */
function tidy(entry: Entry): Entry {
  const { upstream, rules, capture: kept, response_headers: headers } = entry
  return {
    ...entry,
    ...(typeof upstream === 'string' && URL.canParse(upstream)
      ? { upstream: new URL(upstream).href }
      : {}),
    ...(Array.isArray(rules) ? { rules: rules.map(tidied) } : {}),
    ...(Array.isArray(headers) ? { response_headers: lowerCased(headers) } : {}),
    ...(kept === undefined || kept === null
      ? {}
      : { capture: { ...kept, headers: lowerCased((kept as { headers: unknown[] }).headers) } }),
  }
}

function lowerCased(names: readonly unknown[]): string[] {
  return [...new Set(names.map((one) => String(one).toLowerCase()))]
}

function entryOf(target: Target): Entry {
  const { name, upstream, credentialHeader: header, otherwise, settings, disabledAt } = target
  return {
    name,
    upstream,
    credential: header === undefined ? null : { header, value: '' },
    rules: target.rules.map(renderRule),
    otherwise: otherwise ?? null,
    disabled: disabledAt !== undefined,
    ...toFile(settings),
  }
}

function toFile(settings: TargetSettings): Entry {
  return Object.fromEntries(
    Object.entries(settingNames).map(([inside, outside]) => [
      outside,
      snakeCasedMembers(settings[inside as keyof TargetSettings] ?? null),
    ]),
  )
}

function toInput(
  entry: Entry,
  secretAt: (path: string) => string,
  ids: ReadonlyMap<string, string> = new Map(),
): TargetInput {
  const { name, upstream, rules, otherwise, disabled, credential } = entry
  const settings = Object.entries(settingNames).map(([inside, outside]) => [
    inside,
    camelCased(entry[outside] ?? null),
  ])
  return {
    name: String(name),
    upstream: String(upstream),
    disabled: disabled === true,
    otherwise: otherwise as TargetInput['otherwise'],
    credential:
      credential === null
        ? null
        : {
            header: (credential as { header: string }).header,
            value: secretAt('credential.value'),
          },
    settings: Object.fromEntries(settings) as NonNullable<TargetInput['settings']>,
    rules: (rules as string[]).map((line) => ({ ...parseRule(line), id: ids.get(line) })),
  }
}
