const mark = 'reloaded-after-upgrade'
const againAfterMs = 60_000

/** A file of the page did not come: after an upgrade it is gone, without a network it is only not there now. */
class FileGone extends Error {
  override readonly name = 'FileGone'
}

/** A part of the bundle; where its file does not come, this is told from every other mistake. */
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
 * Reloads a page whose file is gone, once and only if the server answers. It is called where the page should be shown,
 * not where its link is pointed at: a reload then would take away what somebody types.
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
