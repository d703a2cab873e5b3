const mark = 'reloaded-after-upgrade'

/** After an upgrade an open tab asks for chunks that are gone: reload once, then let the page say so. */
export function reloadOnceAfterUpgrade(): void {
  window.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(mark) ?? 0)
    if (Date.now() - last < 60_000) return
    event.preventDefault()
    sessionStorage.setItem(mark, String(Date.now()))
    window.location.reload()
  })
}

/** A part of the bundle; where its file is gone and the page already reloads, it never comes instead of failing. */
export function whole<Module>(load: () => Promise<Module | undefined>): () => Promise<Module> {
  return async () => (await load()) ?? (await new Promise<never>(() => undefined))
}
