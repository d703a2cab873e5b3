const mark = 'reloaded-after-upgrade'
const againAfterMs = 60_000

/** Thrown if one of the page's files can't be loaded: an upgrade has removed it, or the network failed. */
class FileGone extends Error {
  override readonly name = 'FileGone'
}

/** Wraps the loading of a part of the bundle, so that a missing file can be distinguished from other errors. */
export function whole<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load()
    } catch (cause) {
      throw new FileGone('A file of this page did not come.', { cause })
    }
  }
}

export function isFileGone(error: unknown): boolean {
  return error instanceof FileGone
}

/**
 * Reloads the page if one of its files is gone, at most once a minute and only if the server responds. Call it where
 * the page would be shown, not where a link to it is hovered: a reload on hover would discard what a person is typing.
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
