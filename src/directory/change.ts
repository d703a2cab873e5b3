import type { OrganizationId } from '../ids.ts'
import type { Actor, Store, Tx } from '../store/index.ts'

/** Who changes an organization's directory: the directory itself with its token, a person, or the command line. */
export interface DirectoryCaller {
  readonly organizationId: OrganizationId
  readonly actor: Actor
}

/** A change of a directory under way: everything that belongs to it is written in its transaction. */
export interface DirectoryChange extends DirectoryCaller {
  readonly tx: Tx
}

/** What a change needs around it. */
export interface ChangeDeps {
  readonly store: Store
  readonly tokens: {
    /** Does the work of a change and refuses it if the directory's token was revoked meanwhile. */
    whileGood<T>(change: DirectoryChange, work: () => Promise<T>): Promise<T>
  }
}

/** What a change came to. */
interface Changed<T> {
  readonly result: T
  /** Somebody's sessions or keys ended: the caller is answered when the other nodes know it. */
  readonly endsAccess: boolean
}

/**
 * Runs a change in one transaction, for as long as the caller's token is good. Only a change that ends access waits
 * for the other nodes.
 */
export async function runChange<T>(
  { store, tokens }: ChangeDeps,
  caller: DirectoryCaller,
  work: (change: DirectoryChange) => Promise<Changed<T>>,
): Promise<T> {
  const { result } = await store.transactionConfirmed(
    async (tx) => {
      const change = { ...caller, tx }
      return await tokens.whileGood(change, async () => await work(change))
    },
    { isNeeded: ({ endsAccess }) => endsAccess, queue: caller.organizationId },
  )
  return result.result
}
