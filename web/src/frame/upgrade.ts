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
