import type { Sealer } from '../secrets/index.ts'
import { settings, type Store } from '../store/index.ts'

const settingName = 'master_key_check'
const context = ['system', settingName, 'value']
const plain = 'sealed by the master key of this database'

/**
 * Refuses to start under a master key that did not seal this database: a new one would silently make every
 * sealed secret unreadable. Seals again under the newest key.
 */
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
    if (!sealer.isOld(sealed)) return
  }
  await store.transaction(
    async (tx) => await settings.set(tx, settingName, sealer.seal(plain, context)),
  )
}
