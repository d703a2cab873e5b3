// npm run reference [-- --check]: writes docs/reference from the product's own tables; with --check, only compares it
// with them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { permissions, roles, type Permission } from '../src/access/index.ts'
import { routes } from '../src/api/routes.ts'
import type { AnyRoute } from '../src/api/core/route.ts'
import { nouns } from '../src/cli/index.ts'
import { listSettings, readConfig, type SettingLine } from '../src/config.ts'
import { problems } from '../src/errors.ts'
import { start } from '../src/main.ts'
import { eventTypes } from '../src/webhooks/index.ts'

const folder = join(import.meta.dirname, '..', 'docs', 'reference')
const made = "This page is made from the product's own tables by `npm run reference`."

/** What each permission allows, as the reference describes it. */
const uses: Readonly<Record<Permission, string>> = {
  'traffic.see': 'see targets, keys (as hints), calls, endpoints and deliveries',
  'keys.issue': 'issue keys, and change, rotate and revoke those',
  'keys.manage': "change, rotate and revoke everybody's keys",
  'deliveries.replay': 'send deliveries again',
  'targets.manage': 'targets, their rules, limits and credentials',
  'webhooks.manage': 'endpoints and the signing secret',
  'members.manage': 'members, their roles and sessions, invitations',
  'audit.see': 'read, check and export the audit log',
  'organization.manage': "the organization's name, rate and key defaults; configuration files",
  'tokens.manage': 'access tokens',
  'sso.manage': 'company sign-in, domains, the directory and roles by group',
  'owners.manage': 'who is an owner',
  'organization.delete': 'delete the organization',
}

const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'settings.md': settingsPage,
  'commands.md': commandsPage,
  'api.md': apiPage,
  'events.md': eventsPage,
  'refusals.md': refusalsPage,
  'metrics.md': metricsPage,
}

const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
const stale: string[] = []
for (const [name, render] of Object.entries(pages)) {
  const text = await render()
  const path = join(folder, name)
  if (values.check === true) {
    if (readOr(path) !== text) stale.push(name)
  } else writeFileSync(path, text)
}
if (stale.length > 0) {
  console.error(`docs/reference is stale (${stale.join(', ')}): run npm run reference`)
  process.exitCode = 1
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function settingsPage(): string {
  const all = listSettings({})
  const groups: readonly (readonly [title: string, about: string, lines: SettingLine[]])[] = [
    [
      'General',
      '',
      all.filter(({ name }) => !/^(LIMIT_|RETENTION_|OTEL_|GITHUB_|GOOGLE_)/.test(name)),
    ],
    [
      'Sign-in providers',
      'A provider is offered when its id and its secret are set.',
      all.filter(({ name }) => /^(GITHUB_|GOOGLE_)/.test(name)),
    ],
    [
      'Traces and logs for a collector',
      'By the names that OpenTelemetry gives them.',
      all.filter(({ name }) => name.startsWith('OTEL_')),
    ],
    ['Limits', '', all.filter(({ name }) => name.startsWith('LIMIT_'))],
    ['How long things are kept', '', all.filter(({ name }) => name.startsWith('RETENTION_'))],
  ]
  const sections = groups.map(([title, about, lines]) =>
    [`## ${title}`, about, table(['setting', 'default', 'what it is'], lines.map(settingRow))]
      .filter((part) => part !== '')
      .join('\n\n'),
  )
  return `# Settings

Settings are environment variables, read once at the start. A wrong one stops the start with one sentence, and so does a misspelt one. \`intercept doctor\` shows every setting, its value, and where that came from.

Settings marked *secret* may also stand in a file: \`NAME_FILE=/path\` instead of \`NAME=…\` (Docker, Kubernetes and systemd mount secrets so); blanks and line breaks around it do not count. Times are written \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`30d\`; sizes \`16KiB\`, \`100MiB\`; rates \`20/s\` or \`20/s burst 100\`; \`off\` switches off what can be off.

${made}

${sections.join('\n\n')}
`
}

function settingRow({ name, default: fallback, about, isSecret }: SettingLine): string[] {
  return [
    `\`${name}\``,
    fallback === '(not set)' ? '' : `\`${fallback}\``,
    about + (isSecret ? ' (*secret*)' : ''),
  ]
}

async function commandsPage(): Promise<string> {
  const sections: string[] = []
  for (const [noun, { about, load }] of Object.entries(nouns)) {
    const { commands } = await load()
    const parts = Object.entries(commands).map(
      ([verb, { usage, about: does, options, examples, local }]) => {
        const line = ['intercept', noun, verb, usage].filter((part) => part !== '').join(' ')
        const flags = Object.entries(options).map(([name, flag]) => [
          `\`--${name}${flag.value === undefined ? '' : ` ${flag.value}`}\``,
          flag.about + (flag.default === undefined ? '' : ` (\`${flag.default}\`)`),
        ])
        return [
          `### ${line}`,
          `${does.charAt(0).toUpperCase()}${does.slice(1)}.`,
          local === undefined
            ? ''
            : `On the machine itself only, not over the API: ${local.because}.`,
          flags.length === 0 ? '' : table(['flag', 'what it does'], flags),
          examples.length === 0 ? '' : `\`\`\`text\n${examples.join('\n')}\n\`\`\``,
        ]
          .filter((part) => part !== '')
          .join('\n\n')
      },
    )
    sections.push(`## ${noun}`, `${about.charAt(0).toUpperCase()}${about.slice(1)}.`, ...parts)
  }
  return `# Commands

\`intercept <command>\`, or \`npx interceptd <command>\`. Every command takes \`--json\` (one JSON object for programs), and exits with 0 (done), 1 (refused or failed) or 2 (wrong use). Commands work on the database of the node, with the same settings (\`DATA_DIR\` or \`DATABASE_URL\`); a running node notices at once. With \`--server URL\` and an access token (\`INTERCEPT_SERVER\`, \`INTERCEPT_TOKEN\`, or \`--token-stdin\`) they work over the API of a running node instead; those that can't say why.

${made}

${sections.join('\n\n')}
`
}

function apiPage(): string {
  const rows = Object.entries(routes as Readonly<Record<string, AnyRoute>>).map(([name, route]) => {
    const [method = '', path = ''] = name.split(' ')
    return [
      `\`${method}\``,
      `\`${path}\``,
      `${route.summary}.`,
      accessOf(route),
      String(route.status),
    ]
  })
  return `# API

Everything below is under \`/api/v1\`; names in JSON are \`snake_case\`. A node shows every route with its schemas at [/docs/api](/docs/api), and the whole as OpenAPI 3.1 at \`/api/v1/openapi.json\`.

* A program sends \`Authorization: Bearer svc_admin_…\` ([access tokens](../guides/access-tokens.md)); the dashboard uses its session cookie. An API key is not accepted here.
* A refusal is \`application/problem+json\` with a stable \`code\` ([every refusal](refusals.md)).
* A \`POST\` that creates something takes \`Idempotency-Key\`: the same key and body give the same response again, for 24 hours.
* What has a version carries an \`ETag\`; \`If-Match\` refuses a change of any other version with 412.
* Lists are paged: \`limit\`, and \`after\`, the \`next\` of the page before.

${made}

## Permissions

Members have those of their role. An access token has those that it was given, and never more than the member who issued it has at that moment; nobody gives a token a permission that they lack, and only owners, or the command line, give \`tokens.manage\`, \`sso.manage\`, \`owners.manage\` and \`organization.delete\`. Each route below names the permission that it takes.

${permissionTable()}

## Routes

${table(['method', 'path', 'what it does', 'who may', 'status'], rows)}
`
}

/** Renders which role has which permission. */
function permissionTable(): string {
  const rows = Object.entries(permissions).map(([permission, holders]) => [
    `\`${permission}\``,
    uses[permission as Permission],
    ...roles.map((role) => ((holders as readonly string[]).includes(role) ? 'yes' : '')),
  ])
  return table(['permission', 'for', ...roles], rows)
}

function accessOf(route: AnyRoute): string {
  if (route.permission === 'anyone') return 'anyone'
  if (route.permission === 'signed-in') return 'people who are signed in'
  if (route.permission === 'operator') return 'access tokens of an operator'
  return `\`${route.permission}\``
}

function eventsPage(): string {
  const sections = eventTypes.map(({ type, description, sample }) => {
    const data = JSON.stringify(sample['data'], undefined, 2)
    return `## ${type}\n\n${description}\n\n\`\`\`json\n${data}\n\`\`\``
  })
  return `# Events

Events are sent to [webhook endpoints](../concepts/webhooks.md) in this envelope; \`data\` depends on the type. \`GET /api/v1/organizations/<slug>/events\` lists them too.

\`\`\`json
{ "id": "evt_…", "type": "…", "timestamp": "…", "api_version": "v1", "organization_id": "org_…", "sequence": 42, "data": {} }
\`\`\`

${made}

${sections.join('\n\n')}
`
}

function refusalsPage(): string {
  const rows = Object.entries(problems)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, { status, title }]) => [
      `[\`${code}\`](../problems/${code}.md)`,
      String(status),
      title,
    ])
  return `# Refusals

A refusal by Intercept is \`application/problem+json\` (RFC 9457) with \`type\`, \`title\`, \`status\`, \`detail\`, \`code\` and \`request_id\`, and carries the header \`Intercept-Refused: <code>\`. An error of the upstream does not. SCIM answers in SCIM's own error format.

${made}

${table(['code', 'status', 'what happened'], rows)}
`
}

/** Renders the metrics that a freshly started node exposes. */
async function metricsPage(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'intercept-reference-'))
  try {
    const settings = { PORT: '0', DATA_DIR: data, LOG_LEVEL: 'silent' }
    await using node = await start(readConfig({ ...settings, ACCESS_LOG: join(data, 'access') }))
    const { families } = await node.report()
    const rows = families
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, type, help }) => [`\`${name}\``, type, help])
    return `# Metrics

\`/metrics\` on \`METRICS_PORT\`, in Prometheus' text format. [Monitoring](../operate/monitoring.md) says what to look at. With \`WORKERS=n\` the counts of all workers are added up, those of workers that have ended included, \`intercept_workers\` says how many answered, and what they see in common (queues, ages) is the greatest.

Histograms have bounds from 0.1 ms to 60 s. Labels: \`organization\`, \`target\`, \`status_class\` (\`2xx\` … \`5xx\`, \`gone\`), \`code\`, \`area\` (\`api\`, \`scim\`, \`sign-in\`, \`pages\`), \`state\`, \`outcome\`, \`reason\`. A node that sends traces or logs to a collector has counters of what it could not send: \`intercept_spans_dropped_total\`, \`intercept_call_logs_dropped_total\`, \`intercept_audit_exported_total\`. On PostgreSQL there is \`intercept_database_lock_waits\` too: sessions of this database that wait for somebody else's lock.

${made}

${table(['metric', 'type', 'what it says'], rows)}
`
  } finally {
    rmSync(data, { recursive: true })
  }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n')
}
