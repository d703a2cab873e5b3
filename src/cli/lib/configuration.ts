import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  createConfigurations,
  maxFileBytes,
  type Configurations,
  type Difference,
} from '../../configuration/index.ts'
import { Problem } from '../../errors.ts'
import { createAddressGuard, createOutbound, createTxtResolver } from '../../http/index.ts'
import { createRelyingParty } from '../../oidc/index.ts'
import { randomToken } from '../../secrets/index.ts'
import { defaultSettings } from '../../targets/index.ts'
import { createLog } from '../../telemetry/index.ts'
import type { Services } from './services.ts'
import type { Terminal } from './terminal.ts'

const maxSecretLength = 8192
const signs = { add: '+', change: '~', remove: '-' } as const

/**
 * Reads a configuration file; returns its text, the label that marks what it manages, and a function that resolves its
 * references to secrets.
 */
export async function readConfiguration(
  path: string,
  { env }: Pick<Terminal, 'env'>,
): Promise<{ label: string; text: string; resolve: (reference: string) => string | undefined }> {
  const label = basename(path)
  const text = await readFile(path, 'utf8')
  if (text.length > maxFileBytes) {
    throw new Problem('invalid_input', `${label} is larger than ${maxFileBytes / 1024 / 1024} MiB.`)
  }
  return { label, text, resolve: secretBehind(env) }
}

/** The configuration-file operations that commands use, on the database or over the API. */
export type FileWork = Pick<Configurations, 'export' | 'plan' | 'apply'>

/** Runs work on configuration files, on the database or over the API. */
export async function withConfigurations<T>(
  services: Services,
  work: (configurations: FileWork) => Promise<T>,
): Promise<T> {
  const { remote } = services
  if (remote !== undefined) {
    const { remoteConfigurations } = await import('../remote/configurations.ts')
    return await work(remoteConfigurations(remote))
  }
  const { config, store, sealer, clock } = services
  const reach = { allowCidrs: config.outboundAllowCidrs, allowLoopback: config.loopbackIsOpen }
  await using outbound = createOutbound(reach)
  const configurations = createConfigurations({
    ...{ store, sealer, clock, outbound },
    log: createLog({ level: 'silent' }),
    guard: createAddressGuard(reach),
    relyingParty: createRelyingParty({
      ...{
        fetch: async (url, options) => await outbound.fetch(url, options),
        clock,
        mintTokenId: randomToken,
      },
      allowLoopback: config.loopbackIsOpen,
    }),
    resolveTxt: createTxtResolver(),
    authUrl: config.authUrl,
    allowLoopback: config.loopbackIsOpen,
    defaults: defaultSettings(config.limits.bodyBytes, config.callRecords),
    maxEndpoints: config.limits.webhookEndpoints,
  })
  return await work(configurations)
}

/** Returns a function that resolves a reference to a secret in this process's environment or in a file. */
function secretBehind(env: Terminal['env']): (reference: string) => string | undefined {
  return (reference) => {
    const [, kind, name = ''] = /^(env|file):(.*)$/.exec(reference) ?? []
    const value = kind === 'env' ? env[name] : readSecret(name)
    return value !== undefined && value.length <= maxSecretLength ? value : undefined
  }
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}

/** Formats differences for people: a line with `+`, `~` or `-` for each thing, and below it the fields that differ. */
export function differencesText(differences: readonly Difference[]): string {
  if (differences.length === 0) return 'No differences.'
  const lines = differences.flatMap(({ change, subject, fields }) => [
    `${signs[change]} ${subject}`,
    ...fields.map(
      ({ field, before, after }) =>
        `    ${field}: ${change === 'add' ? '' : `${JSON.stringify(before)} → `}${JSON.stringify(after)}`,
    ),
  ])
  return lines.join('\n')
}
