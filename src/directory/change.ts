import type { OrganizationId } from '../ids.ts'
import type { Actor, Store, Tx } from '../store/index.ts'

/**
 * The organization whose directory changes, and who changes it: the directory itself (with its token), a person, an
 * access token or the command line.
 */
export interface DirectoryCaller {
  readonly organizationId: OrganizationId
  readonly actor: Actor
}

/** A directory change in progress; everything it writes goes into its transaction. */
export interface DirectoryChange extends DirectoryCaller {
  readonly tx: Tx
}

export interface ChangeDeps {
  readonly store: Store
  readonly tokens: {
    /** Performs a change by a directory only if its token is still valid; performs any other change directly. */
    whileGood<T>(change: DirectoryChange, work: () => Promise<T>): Promise<T>
  }
}

interface Changed<T> {
  readonly result: T
  /**
   * Whether the change may have ended sessions or keys; the caller then gets the response only once the other nodes
   * know.
   */
  readonly endsAccess: boolean
}

/** Runs a change in one transaction, provided the caller's token stays valid. */
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
