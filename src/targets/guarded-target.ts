import { foldHeaderName } from '../http/message/index.ts'
import type { OrganizationId, TargetId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import type { TargetRecord } from '../store/index.ts'
import { compileRule, lastLineOf, type LastLine, type Rule } from './rules.ts'
import { readSettings } from './settings.ts'
import type { TargetSettings } from './settings.ts'

/** A target as the gateway uses it: fully parsed, with the credential unsealed. */
export interface GuardedTarget {
  readonly id: TargetId
  readonly organizationId: OrganizationId
  readonly slug: string
  readonly name: string
  readonly disabled: boolean
  readonly rules: readonly Rule[]
  /** The action for a call that no rule decides. */
  readonly otherwise: LastLine
  readonly settings: TargetSettings
  readonly upstream: Upstream
  /** The injected header: its normalized name, and the complete line with CRLF. */
  readonly credential: { readonly name: string; readonly line: string } | undefined
}

/** The server to which a target's calls are forwarded. */
export interface Upstream {
  readonly secure: boolean
  /** A host name, or a literal address without brackets. */
  readonly host: string
  readonly port: number
  /** The host, and the port if it is not the protocol's default. */
  readonly authority: string
  /** The prefix of every call's path, without a trailing slash. */
  readonly basePath: string
}

/** Prepares a stored target for use; throws if its credential can't be unsealed. */
export function guardedTarget(
  record: TargetRecord,
  sealer: Sealer,
  defaults: TargetSettings,
): GuardedTarget {
  const { credentialHeader: name, credentialSealed: sealed } = record
  return {
    id: record.id,
    organizationId: record.organizationId,
    slug: record.slug,
    name: record.name,
    disabled: record.disabledAt !== undefined,
    rules: record.rules.map((rule) => compileRule(rule.id, rule)),
    otherwise: lastLineOf(record),
    settings: readSettings(record.settings, defaults),
    upstream: parseUpstream(record.upstream),
    credential:
      name === undefined || sealed === undefined
        ? undefined
        : {
            name: foldHeaderName(name),
            line: `${name}: ${sealer.open(sealed, credentialContext(record))}\r\n`,
          },
  }
}

/** The context binds a sealed credential to its target, so that it can't be opened in another target's row. */
export function credentialContext(target: {
  organizationId: OrganizationId
  id: TargetId
}): string[] {
  return [target.organizationId, target.id, 'credential']
}

/** Parses an upstream's URL, which was validated when it was saved. */
function parseUpstream(text: string): Upstream {
  const url = new URL(text)
  const secure = url.protocol === 'https:'
  return {
    secure,
    host: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    authority: url.host,
    basePath: url.pathname.replace(/\/+$/, ''),
  }
}

/** Throws if the credential can't be unsealed. */
export function openCredential(record: TargetRecord, sealer: Sealer): string | undefined {
  const { credentialSealed: sealed } = record
  return sealed === undefined ? undefined : sealer.open(sealed, credentialContext(record))
}
