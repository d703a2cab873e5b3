import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finishFile, makeFolder } from '../files.ts'
import { isWeakSecret } from '../credential-formats.ts'

/**
 * Loads the master secrets, newest first: from the setting, where commas separate them, or from the lines of the file
 * `secret.key` in the data folder. The first start without the setting creates this file with mode 0600. Throws if the
 * file is empty or holds a secret that is too weak.
 */
export function loadMasterSecrets(
  setting: string | undefined,
  dataFolder: string,
): readonly string[] {
  if (setting) return setting.split(',').map((part) => part.trim())
  const file = join(dataFolder, 'secret.key')
  if (!existsSync(file)) writeNew(file, dataFolder)
  return read(file)
}

/** Thrown when a database exists, but the master key that sealed its secrets is missing. */
export class MissingMasterKey extends Error {}

/**
 * Like `loadMasterSecrets`, but throws `MissingMasterKey` rather than create a key for a database that is already in
 * use: the key that encrypted its secrets can't be recreated, and a new one would only hide the loss.
 */
export async function loadMasterSecretsFor(database: {
  readonly setting: string | undefined
  readonly folder: string
  readonly isInUse: () => Promise<boolean>
}): Promise<readonly string[]> {
  const { setting, folder } = database
  const isMissing = !setting && !existsSync(join(folder, 'secret.key'))
  // Another process may have created the key and begun to use the database meanwhile.
  if (isMissing && (await database.isInUse()) && !existsSync(join(folder, 'secret.key'))) {
    throw new MissingMasterKey(
      `the master key of this database is missing: put secret.key back into ${folder}, or set INTERCEPT_SECRET`,
    )
  }
  return loadMasterSecrets(setting, folder)
}

function read(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const secrets = lines.map((line) => line.trim()).filter((line) => line !== '')
  if (secrets.length === 0 || secrets.some(isWeakSecret)) {
    throw new Error(
      `${file} must hold 32 random characters or more on each line; if it was damaged, put a copy back`,
    )
  }
  return secrets
}

function writeNew(file: string, folder: string): void {
  makeFolder(folder)
  // Written under another name first: otherwise, a process that starts at the same moment, or after a power failure,
  // would find the file empty.
  const unfinished = `${file}.${randomBytes(8).toString('hex')}`
  try {
    const secret = randomBytes(32).toString('base64url')
    writeFileSync(unfinished, `${secret}\n`, { mode: 0o600, flag: 'wx' })
    finishFile(unfinished, file)
  } catch (error) {
    // Another of our processes created the key first, so that key is used.
    if (!existsSync(file)) throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}
