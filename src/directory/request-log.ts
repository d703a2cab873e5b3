import type { OrganizationId } from '../ids.ts'
import { directoryRequests, type DirectoryRequestRecord, type Store } from '../store/index.ts'

const flushAfterMs = 200
const maxWaiting = 2000

/** The request log of directories: IdP requests and our responses, the last thousand per organization. */
export interface DirectoryLog extends AsyncDisposable {
  /** Records a request; it is written shortly afterwards, together with others. */
  note(organizationId: OrganizationId, request: DirectoryRequestRecord): void
  /** Lists requests newest first, after writing those that this node has not written yet. */
  list(
    organizationId: OrganizationId,
    page: directoryRequests.RequestPage,
  ): Promise<DirectoryRequestRecord[]>
}

export function createDirectoryLog(deps: { store: Store }): DirectoryLog {
  const { store } = deps
  let waiting = new Map<OrganizationId, DirectoryRequestRecord[]>()
  let amount = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()

  async function write(batch: Map<OrganizationId, DirectoryRequestRecord[]>): Promise<void> {
    for (const [organizationId, requests] of batch) {
      // An error is ignored, because the requests are over and the other organizations' records must still be written.
      await store
        .transaction(async (tx) => await directoryRequests.insertAll(tx, organizationId, requests))
        .catch(() => undefined)
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = new Map()
    amount = 0
    flushing = flushing.then(async () => await write(batch))
    await flushing
  }

  return {
    note(organizationId, request) {
      const own = waiting.get(organizationId)
      if (own === undefined) waiting.set(organizationId, [request])
      else own.push(request)
      amount += 1
      if (amount >= maxWaiting) void flush()
      else timer ??= setTimeout(() => void flush(), flushAfterMs).unref()
    },
    async list(organizationId, page) {
      await flush()
      return await directoryRequests.list(store, organizationId, page)
    },
    async [Symbol.asyncDispose]() {
      await flush()
    },
  }
}
