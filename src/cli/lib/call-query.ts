import { isId } from '../../ids.ts'
import type { CallRecord } from '../../store/index.ts'
import { checks } from '../../targets/index.ts'
import { parseDuration, parseTime } from '../../units.ts'
import { UsageError, type Flag } from './command.ts'

/** The part of a call's path before the target. */
export const gatewayPrefix = '/api/v1/intercept'

export const callFlags = {
  target: { type: 'string', value: 'SLUG', about: 'calls to this target' },
  key: { type: 'string', value: 'KEY-ID', about: 'calls with this key' },
  status: { type: 'string', value: '403|4xx', about: 'calls with this status' },
  'stopped-at': {
    type: 'string',
    value: 'CHECK',
    about: 'calls refused by this check, such as rules or limits',
  },
  method: { type: 'string', value: 'METHOD', about: 'calls with this method' },
  path: {
    type: 'string',
    value: 'PATH',
    about: 'calls whose path begins with this; needs --target',
  },
  address: { type: 'string', value: 'ADDRESS', about: 'calls from this address' },
  since: {
    type: 'string',
    value: 'TIME',
    about: 'calls of the last 15m, 24h, 7d, or since a date',
  },
} as const satisfies Record<string, Flag>

export type CallFlags = Partial<Record<keyof typeof callFlags, string | undefined>>

export interface CallQuery {
  readonly target: string | undefined
  readonly key: string | undefined
  /** A status such as `403`, or a class such as `4xx`. */
  readonly status: string | undefined
  readonly stoppedAt: string | undefined
  readonly method: string | undefined
  /** The beginning of the path below the target. */
  readonly path: string | undefined
  readonly address: string | undefined
  readonly from: number | undefined
}

/**
 * Parses the flags; throws a `UsageError` for a malformed key id, status or time, an unknown check, and a path without
 * a target.
 */
export function parseCallQuery(flags: CallFlags, nowMs: number): CallQuery {
  const { target, key, status, method, path, address, since } = flags
  if (key !== undefined && !isId('key', key))
    throw new UsageError('--key must be a key’s id (key_…)')
  if (path !== undefined && target === undefined) throw new UsageError('--path needs --target')
  if (status !== undefined && !/^[1-5](?:xx|\d\d)$/.test(status))
    throw new UsageError('--status must be such as 403 or 4xx')
  const stoppedAt = flags['stopped-at']
  if (stoppedAt !== undefined && !checks.some((check) => check === stoppedAt))
    throw new UsageError(`--stopped-at must be one of ${checks.join(', ')}`)
  return {
    ...{ target, key, status, stoppedAt, method, path, address },
    from: since === undefined ? undefined : parseSince('--since', since, nowMs),
  }
}

/** Parses a duration before now such as `24h`, or a date with or without a time of day. */
export function parseSince(name: string, text: string, nowMs: number): number {
  const date = parseTime(text)
  if (date !== undefined) return date
  try {
    return nowMs - parseDuration(text)
  } catch {
    throw new UsageError(`${name} must be such as 15m, 24h, 7d or 2026-11-22`)
  }
}

/** A call with the current names of its target and key. */
export interface NamedCall {
  readonly call: CallRecord
  readonly target: string | undefined
  readonly key: string | undefined
}

/** Lists a page of calls, newest first. */
export type CallList = (page: {
  readonly limit: number
  readonly from?: number
}) => Promise<NamedCall[]>

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

/** Formats a call for `--json`. */
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
