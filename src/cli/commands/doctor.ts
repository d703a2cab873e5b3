import { checkMasterKey, countSealed } from '../../access/index.ts'
import { listSettings, readConfig, remarks, suspicions, type SettingLine } from '../../config.ts'
import {
  databaseServer,
  deliveryQueue,
  nodes as nodeTable,
  probe,
  probeLockWaits,
  rateShares,
  type Store,
} from '../../store/index.ts'
import { BadFinding, command } from '../lib/command.ts'
import { DatabaseMissing, withServices, type Services } from '../lib/services.ts'
import { isoTime, renderTable } from '../lib/table.ts'
import type { Terminal } from '../lib/terminal.ts'

const reachWithinMs = 3000
const clockApartMs = 2000
const revocations = 20

interface Finding {
  readonly check: string
  readonly isWell: boolean
  readonly said: string
  readonly details?: Readonly<Record<string, unknown>>
}

export const commands = {
  '': command({
    usage: '',
    about: 'show the settings, check database, clock and reachability, and measure a revocation',
    local: { because: 'it looks at this machine, its settings, its clock and its database' },
    examples: ['intercept doctor'],
    run: async (_call, terminal) => {
      const settings = listSettings(terminal.env)
      const config = readConfig(terminal.env)
      const findings: Finding[] = [...remarks(config), ...suspicions(terminal.env)].map((said) => ({
        check: 'settings',
        isWell: true,
        said,
      }))
      findings.push(...(await lookAtDatabase(terminal)))
      const isWell = findings.every((finding) => finding.isWell)
      const answer = {
        data: { ok: isWell, settings: settings.map(toData), findings: findings.map(toFound) },
        text: `${renderSettings(settings)}\n\n${findings.map(renderFinding).join('\n')}`,
      }
      if (!isWell) throw new BadFinding(answer)
      return answer
    },
  }),
}

async function lookAtDatabase(terminal: Terminal): Promise<Finding[]> {
  try {
    return await withServices(terminal, async (services) => {
      const revocation = await measureRevocation(services.store)
      const { nodes } = revocation
      return [
        await checkSecrets(services),
        ...(await checkDatabase(services.store)),
        await checkReachable(services.config.baseUrl, nodes),
        revocation.finding,
        await checkHistory(services.store),
        await checkRates(services.store),
        await checkDeliveries(services.store),
        ...(await checkLocks(services.store)),
      ]
    })
  } catch (error) {
    if (!(error instanceof DatabaseMissing)) throw error
    // Before the first start there is nothing to check, and doctor must not create a database.
    return [{ check: 'database', isWell: true, said: error.message }]
  }
}

async function checkSecrets({ store, sealer }: Services): Promise<Finding> {
  try {
    await checkMasterKey(store, sealer)
    const { newest, older } = await countSealed(store, sealer)
    const said =
      older === 0
        ? `What is sealed in the database (${newest}) can be opened, all of it under the newest master key.`
        : `${older} of ${newest + older} secrets are under an older master key: \`intercept reseal\` seals them again.`
    const details = { under_newest_key: newest, under_older_keys: older }
    return { check: 'secrets', isWell: true, said, details }
  } catch (error) {
    return { check: 'secrets', isWell: false, said: messageOf(error) }
  }
}

async function checkDatabase(store: Store): Promise<Finding[]> {
  const startedAt = performance.now()
  const { version, nowMs } = await probe(store)
  const tookMs = round(performance.now() - startedAt)
  const database = {
    check: 'database',
    isWell: true,
    said: `${store.engine} ${version} answers in ${tookMs} ms; the schema is up to date.`,
    details: { engine: store.engine, version, took_ms: tookMs },
  }
  if (nowMs === undefined) return [database]
  const apartMs = Math.round(Math.abs(Date.now() - nowMs))
  return [
    database,
    {
      check: 'clock',
      isWell: apartMs <= clockApartMs,
      said:
        apartMs <= clockApartMs
          ? `This clock and the database's are ${apartMs} ms apart.`
          : `This clock and the database's are ${apartMs} ms apart: let NTP set both.`,
      details: { apart_ms: apartMs },
    },
  ]
}

/** Checks that a ready node responds at BASE_URL. If no node is running, the lack of a response is not a fault. */
async function checkReachable(baseUrl: string, nodes: number): Promise<Finding> {
  const check = 'reachability'
  try {
    const answer = await fetch(`${baseUrl}/readyz`, {
      redirect: 'error',
      signal: AbortSignal.timeout(reachWithinMs),
    })
    const [state = ''] = (await answer.text()).slice(0, 40).split('\n')
    const isReady = answer.status === 200 && state === 'ready'
    return {
      check,
      isWell: isReady && nodes > 0,
      said: !isReady
        ? `${baseUrl} answers ${answer.status} instead of "ready": is BASE_URL this service?`
        : nodes > 0
          ? `${baseUrl} is ready.`
          : `${baseUrl} is ready, but no node runs on this database: BASE_URL leads to another service.`,
    }
  } catch {
    if (nodes === 0) {
      return {
        check,
        isWell: true,
        said: `Nothing answers at ${baseUrl} from here (not started?).`,
      }
    }
    return {
      check,
      isWell: false,
      said: `A node runs, but nothing answers at ${baseUrl} from here: mend BASE_URL, or the proxy in front.`,
    }
  }
}

/** Commits changes the way a revocation does, and measures how long each confirmation takes. */
async function measureRevocation(store: Store): Promise<{ nodes: number; finding: Finding }> {
  const took: number[] = []
  let nodes = 0
  let silent = 0
  for (let at = 0; at < revocations; at++) {
    const { confirmation } = await store.transactionConfirmed(async (tx) =>
      tx.changed({ kind: 'key', organizationId: 'system', subjectId: 'key_doctor' }),
    )
    took.push(confirmation.tookMs)
    nodes = confirmation.nodes
    silent = Math.max(silent, confirmation.silentNodes)
  }
  took.sort((one, other) => one - other)
  const middle = took[Math.floor(revocations / 2)] ?? 0
  const worst = took.at(-1) ?? 0
  const who =
    nodes + silent === 0
      ? 'no node is running'
      : nodes === 1
        ? '1 node confirms'
        : `${nodes} nodes confirm`
  const slow = silent > 0 ? `; ${silent} did not answer and trust nothing after 1 s` : ''
  const finding = {
    check: 'revocation',
    isWell: silent === 0,
    said: `A revocation is known everywhere after ${middle} ms (median), ${worst} ms (worst of ${revocations}); ${who}${slow}.`,
    details: { median_ms: middle, worst_ms: worst, nodes, silent_nodes: silent },
  }
  return { nodes: nodes + silent, finding }
}

/** If this database has replaced another one, checks that every node has read it since. */
async function checkHistory(store: Store): Promise<Finding> {
  const { nodes } = await nodeTable.look(store, undefined)
  const elsewhere = nodes.filter(({ isOfThisHistory }) => !isOfThisHistory).length
  const metAt = await databaseServer.metAt(store)
  const since = metAt === undefined ? '' : ` Nodes have known this server since ${isoTime(metAt)}.`
  const said =
    elsewhere === 0
      ? `${nodes.length} of ${nodes.length} nodes have read this database's changes.${since}`
      : `${elsewhere} of ${nodes.length} nodes have not read this database since it took another's place: they trust nothing that they remember.${since}`
  const details = { nodes: nodes.length, elsewhere, server_known_since: metAt ?? null }
  return { check: 'history', isWell: elsewhere === 0, said, details }
}

async function checkRates(store: Store): Promise<Finding> {
  const { nodes, subjects, short } = await rateShares.countShares(store.calls)
  const said =
    nodes === 0
      ? 'No rates are shared: at most one node runs, or none has a limited caller.'
      : `${nodes} nodes share the rates of ${subjects} keys, targets and tokens; ${short} of their shares are too small at present.`
  return { check: 'rates', isWell: true, said, details: { nodes, subjects, short } }
}

async function checkDeliveries(store: Store): Promise<Finding> {
  const queue = await deliveryQueue.look(store)
  const { pending, held, oldestAt, heldEndpoints, disabledEndpoints } = queue
  const ageMs = oldestAt === undefined ? 0 : Math.max(0, store.clock.now() - oldestAt)
  const waiting =
    pending === 0
      ? 'No delivery waits'
      : `${pending} deliveries wait, the oldest for ${round(ageMs / 1000)} s`
  return {
    check: 'deliveries',
    isWell: true,
    said: `${waiting}; ${heldEndpoints} endpoints are held because they fail (${held} deliveries), ${disabledEndpoints} are disabled.`,
    details: {
      ...{ pending, held, oldest_ms: ageMs },
      ...{ held_endpoints: heldEndpoints, disabled_endpoints: disabledEndpoints },
    },
  }
}

async function checkLocks(store: Store): Promise<Finding[]> {
  const waiting = await probeLockWaits(store)
  if (waiting === undefined) return []
  const said =
    waiting === 0
      ? 'Nobody waits for a lock.'
      : `${waiting} sessions wait for a lock; /metrics has intercept_database_lock_waits over time.`
  return [{ check: 'locks', isWell: true, said, details: { waiting } }]
}

function toData({ name, value, default: fallback, about, isSet, source }: SettingLine) {
  return { name, value, default: fallback, about, is_set: isSet, source }
}

function toFound({ check, isWell, said, details }: Finding) {
  return { check, is_well: isWell, said, ...(details === undefined ? {} : { details }) }
}

function renderSettings(settings: readonly SettingLine[]): string {
  const rows = settings.map((line) => [
    `${line.isSet ? '*' : ' '} ${line.name}`,
    line.value,
    line.isSet ? line.default : '',
    line.isSet ? line.source : '',
    line.about,
  ])
  return renderTable(['  SETTING', 'VALUE', 'DEFAULT', 'FROM', ''], rows, '')
}

function renderFinding(finding: Finding): string {
  return `${finding.isWell ? 'ok   ' : 'WRONG'} ${finding.check}: ${finding.said}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
