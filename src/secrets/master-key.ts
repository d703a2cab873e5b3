import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../folder.ts'

/**
 * Loads the master secrets, newest first: from the setting, where commas separate them, or from the file `secret.key`
 * in the data folder. The first start without the setting creates this file with mode 0600.
 */
export function loadMasterSecrets(
  setting: string | undefined,
  dataFolder: string,
): readonly string[] {
  if (setting) return setting.split(',').map((part) => part.trim())
  const file = join(dataFolder, 'secret.key')
  if (!existsSync(file)) writeNew(file, dataFolder)
  return readFileSync(file, 'utf8').trim().split('\n')
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
  if (isMissing && (await database.isInUse())) {
    throw new MissingMasterKey(
      `the master key of this database is missing: put secret.key back into ${folder}, or set INTERCEPT_SECRET`,
    )
  }
  return loadMasterSecrets(setting, folder)
}

function writeNew(file: string, folder: string): void {
  makeFolder(folder)
  try {
    const handle = openSync(file, 'wx', 0o600)
    writeSync(handle, `${randomBytes(32).toString('base64url')}\n`)
    fsyncSync(handle)
    closeSync(handle)
    chmodSync(file, 0o600)
  } catch (error) {
    // Another of our processes created the key first, so that key is used.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
