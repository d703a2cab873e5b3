import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import type { IssuedKey } from '../../configuration/index.ts'
import { Problem } from '../../errors.ts'
import { UsageError } from './command.ts'

/** The destination for the secrets of newly issued keys. */
export interface SecretSink extends AsyncDisposable {
  /**
   * Writes the keys to the file, if there is one; refuses new keys if no destination was given. Called before the
   * commit, so that no secret is lost. Over the API, this first call has only the keys' names, and a second call after
   * the commit has the secrets that the server returned.
   */
  readonly write: (issued: readonly IssuedKey[]) => void
  /** Keeps the written file, which closing the sink would otherwise delete; called after the commit. */
  readonly keep: () => void
  /** Returns the keys to print; their secrets are included only if standard output is the destination. */
  readonly shows: (issued: readonly IssuedKey[]) => readonly Partial<IssuedKey>[]
}

/** Opens the destination: `file:PATH`, which must not exist yet, or `stdout`. */
export function openSink(place: string | undefined): SecretSink {
  const path = place?.startsWith('file:') === true ? place.slice('file:'.length) : undefined
  if (place !== undefined && place !== 'stdout' && (path === undefined || path === '')) {
    throw new UsageError('--new-secrets must be file:PATH or stdout')
  }
  if (path !== undefined && existsSync(path)) {
    throw new Problem('conflict', `${path} is there already: it may hold secrets. Move it first.`)
  }
  let written = false
  let kept = false
  return {
    write(issued) {
      if (issued.length === 0) return
      if (place === undefined) throw noPlace(issued)
      if (path === undefined) return
      if (written) rmSync(path, { force: true })
      written = true
      writeSecrets(path, issued)
    },
    keep: () => void (kept = true),
    shows: (issued) => (path === undefined ? issued : issued.map(({ name, id }) => ({ name, id }))),
    async [Symbol.asyncDispose]() {
      if (path !== undefined && written && !kept) rmSync(path, { force: true })
    },
  }
}

function noPlace(issued: readonly IssuedKey[]): Problem {
  const names = issued.map(({ name }) => name).slice(0, 5)
  return new Problem(
    'invalid_input',
    `${names.join(', ')} would be issued, and nobody would get the secret. Name a place: --new-secrets file:PATH or --new-secrets stdout.`,
  )
}

function writeSecrets(path: string, issued: readonly IssuedKey[]): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${JSON.stringify({ keys: issued }, null, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
