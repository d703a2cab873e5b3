import type { Sealer } from '../secrets/index.ts'
import { settings, type Store } from '../store/index.ts'
import { countSealed } from './master-key-rotation.ts'

const settingName = 'master_key_check'
const context = ['system', settingName, 'value']
const plain = 'sealed by the master key of this database'

/** Refuses to start if the configured master keys cannot open this database's secrets. */
export async function checkMasterKey(store: Store, sealer: Sealer): Promise<void> {
  const sealed = await settings.find(store, settingName)
  if (sealed !== undefined) {
    try {
      sealer.open(sealed, context)
    } catch (cause) {
      throw new Error(
        'the master key (INTERCEPT_SECRET or secret.key) is not the one that this database was sealed with',
        { cause },
      )
    }
    await refuseUnknownKeys(store, sealer)
    if (!sealer.isOld(sealed)) return
  }
  await store.transaction(
    async (tx) => await settings.set(tx, settingName, sealer.seal(plain, context)),
  )
}

/**
 * Refuses to start if an older master key was removed too early, because the secrets that are still sealed under it
 * could not be opened.
 */
async function refuseUnknownKeys(store: Store, sealer: Sealer): Promise<void> {
  const { unknown } = await countSealed(store, sealer, { lasting: true })
  if (unknown === 0) return
  throw new Error(
    `${unknown} secrets are sealed under a master key that is not given any more; put it back behind the newest one (INTERCEPT_SECRET=new,old), run \`intercept reseal\`, then take it out`,
  )
}
