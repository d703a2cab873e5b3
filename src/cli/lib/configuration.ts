import { readFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import {
  readConfiguration,
  type Configuration,
  type ConfigurationDeps,
  type Difference,
} from '../../configuration/index.ts'
import { Problem } from '../../errors.ts'
import { createAddressGuard } from '../../http/index.ts'
import { defaultSettings } from '../../targets/index.ts'
import type { Services } from './services.ts'
import type { Terminal } from './terminal.ts'

const maxSecretLength = 8192
const signs = { add: '+', change: '~', remove: '-' } as const

/** The file of a command, read strictly. */
export async function readFileOf(path: string): Promise<{ label: string; wanted: Configuration }> {
  const label = basename(path)
  const text = await readFile(path, 'utf8')
  return { label, wanted: readConfiguration(text, label) }
}

/** What the domain needs, with secrets from this process's environment and files. */
export function depsOf(services: Services, terminal: Terminal): ConfigurationDeps {
  const { config } = services
  return {
    ...services,
    guard: createAddressGuard({
      allowCidrs: config.outboundAllowCidrs,
      allowLoopback: config.loopbackIsOpen,
    }),
    defaults: defaultSettings(config.limits.bodyBytes),
    resolve: (reference) => resolve(reference, terminal.env),
  }
}

function resolve(reference: string, env: Terminal['env']): string {
  const [, kind, name = ''] = /^(env|file):(.*)$/.exec(reference) ?? []
  const value = kind === 'env' ? env[name] : readSecret(name)
  if (value !== undefined && value !== '' && value.length <= maxSecretLength) return value
  throw new Problem('invalid_input', `There is no secret behind ${reference}.`)
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}

/** Differences as a person reads them: `+`, `~`, `-`, field by field. */
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
