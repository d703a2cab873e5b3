import { isId, type OrganizationId } from '../../ids.ts'
import { calls, type CallRecord, type Store } from '../../store/index.ts'
import { gatewayPrefix, type Targets } from '../../targets/index.ts'
import { parseDuration } from '../../units.ts'
import { UsageError, type Flag } from './command.ts'

/** What calls can be narrowed by. */
export const callFlags = {
  target: { type: 'string', value: 'SLUG', about: 'calls to this target' },
  key: { type: 'string', value: 'KEY-ID', about: 'calls with this key' },
  status: { type: 'string', value: '403|4xx', about: 'calls answered so' },
  'stopped-at': {
    type: 'string',
    value: 'CHECK',
    about: 'calls refused by this check, such as rules or limits',
  },
  method: { type: 'string', value: 'METHOD', about: 'calls with this method' },
  path: { type: 'string', value: 'PATH', about: 'calls whose path begins so; needs --target' },
  address: { type: 'string', value: 'ADDRESS', about: 'calls from this address' },
  since: {
    type: 'string',
    value: 'TIME',
    about: 'calls of the last 15m, 24h, 7d, or since a date',
  },
} as const satisfies Record<string, Flag>

export type CallFlags = Partial<Record<keyof typeof callFlags, string | undefined>>

type Filter = Omit<Parameters<typeof calls.list>[2], 'limit' | 'before' | 'after'>

/** Flags as the store takes them; wrong use for a status or time that is none. */
export function parseCallFilter(
  flags: CallFlags,
  known: { readonly slugs: ReadonlyMap<string, string>; readonly nowMs: number },
): Filter {
  const { target, key, status, method, path, address, since } = flags
  const targetId =
    target === undefined ? undefined : [...known.slugs].find(([, slug]) => slug === target)?.[0]
  if (target !== undefined && targetId === undefined) {
    throw new Error(`There is no target ${target} in this organization.`)
  }
  if (key !== undefined && !isId('key', key))
    throw new UsageError('--key must be a key’s id (key_…)')
  if (path !== undefined && target === undefined) throw new UsageError('--path needs --target')
  return {
    ...{ targetId, keyId: key, address, method: method?.toUpperCase() },
    stoppedAt: flags['stopped-at'],
    statuses: status === undefined ? undefined : parseStatus(status),
    path: path === undefined ? undefined : `${gatewayPrefix}/${target}${path}`,
    from: since === undefined ? undefined : parseSince('--since', since, known.nowMs),
  }
}

function parseStatus(text: string): readonly [number, number] {
  const [, first, rest = ''] = /^([1-5])(xx|\d\d)$/.exec(text) ?? []
  if (first === undefined) throw new UsageError('--status must be such as 403 or 4xx')
  if (rest !== 'xx') return [Number(text), Number(text) + 1]
  return [Number(first) * 100, Number(first) * 100 + 100]
}

/** `24h` before now, or a date with or without a time of day. */
export function parseSince(name: string, text: string, nowMs: number): number {
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(date)) return date
  try {
    return nowMs - parseDuration(text)
  } catch {
    throw new UsageError(`${name} must be such as 15m, 24h, 7d or 2026-11-22`)
  }
}

/** Calls as they are printed and as `--json` says them. */
export interface NamedCall {
  readonly call: CallRecord
  readonly target: string | undefined
  readonly key: string | undefined
}

/** A page of calls with today's names of their targets and keys. */
export async function listCalls(
  from: {
    readonly store: Store
    readonly targets: Pick<Targets, 'slugs'>
    readonly names: (
      ids: readonly CallRecord['keyId'][],
    ) => Promise<ReadonlyMap<string, { name: string }>>
    readonly organizationId: OrganizationId
  },
  page: Parameters<typeof calls.list>[2],
): Promise<NamedCall[]> {
  const found = await calls.list(from.store.slowCallReads, from.organizationId, page)
  const slugs = await from.targets.slugs(from.organizationId)
  const names = await from.names([...new Set(found.map(({ keyId }) => keyId))])
  return found.map((call) => ({
    call,
    target: call.targetId === undefined ? undefined : slugs.get(call.targetId),
    key: names.get(call.keyId)?.name,
  }))
}

/** One call as a line of a table. */
export function callRow({ call, target, key }: NamedCall): string[] {
  const path = call.path.startsWith(`${gatewayPrefix}/`)
    ? call.path.slice(gatewayPrefix.length)
    : call.path
  return [
    new Date(call.at).toISOString().slice(0, 19).replace('T', ' '),
    String(call.status),
    call.method,
    path,
    call.refusal ?? '',
    `${Math.round(call.durationUs / 100) / 10} ms`,
    key ?? call.keyId,
    call.address,
    target ?? '',
    call.id,
  ]
}

export const callHeadings = [
  'TIME (UTC)',
  'STATUS',
  'METHOD',
  'PATH',
  'REFUSED',
  'TOOK',
  'KEY',
  'ADDRESS',
  'TARGET',
  'ID',
]

/** One call for `--json`. */
export function callData({ call, target, key }: NamedCall): Record<string, unknown> {
  return {
    id: call.id,
    at: new Date(call.at).toISOString(),
    ...{ key_id: call.keyId, key_name: key ?? null, target: target ?? null },
    method: call.method,
    path: call.path,
    status: call.status,
    code: call.refusal ?? null,
    stopped_at: call.stoppedAt ?? null,
    rule_id: call.ruleId ?? null,
    duration_ms: call.durationUs / 1000,
    upstream_ms: call.upstreamUs === undefined ? null : call.upstreamUs / 1000,
    address: call.address,
    agent: call.agent ?? null,
  }
}
