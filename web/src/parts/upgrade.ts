const mark = 'reloaded-after-upgrade'
const againAfterMs = 60_000

/** A file of the page did not load: it is gone after an upgrade, or only unavailable because of the network. */
class FileGone extends Error {
  override readonly name = 'FileGone'
}

/** Wraps loading a part of the bundle, so that a missing file can be told from other errors. */
export function whole<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load()
    } catch (cause) {
      throw new FileGone('A file of this page did not come.', { cause })
    }
  }
}

/** Whether one of the page's files could not be loaded. */
export function isFileGone(error: unknown): boolean {
  return error instanceof FileGone
}

/**
 * Reloads a page whose file is gone, at most once a minute and only if the server responds. Call it where the page
 * would be shown, not where its link is hovered: reloading on hover would discard what a person types.
 */
export async function reloadOnceAfterUpgrade(failure: unknown): Promise<void> {
  if (!isFileGone(failure)) return
  const last = Number(sessionStorage.getItem(mark) ?? 0)
  if (Date.now() - last < againAfterMs) return
  const answer = await fetch('/', { method: 'HEAD' }).catch(() => undefined)
  if (answer?.ok !== true) return
  sessionStorage.setItem(mark, String(Date.now()))
  window.location.reload()
}
