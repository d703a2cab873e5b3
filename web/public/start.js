// Runs before the first paint and long before the dashboard's code is there. A module would be deferred.
;(() => {
  const { dataset } = document.documentElement
  const { pathname } = location
  try {
    // A chosen theme never flashes.
    const theme = localStorage.getItem('theme')
    if (theme === 'light' || theme === 'dark') dataset.theme = theme
    // Fonts that an earlier visit has loaded are in the browser's cache; otherwise they come after the first page.
    if (localStorage.getItem('fonts') === 'loaded') dataset.fonts = ''
  } catch {
    // Storage is closed to this page: the system's theme and fonts it is.
  }

  const place = /^\/o\/[^/]+\/?([^/]*)\/?$/.exec(pathname)
  if (place === null) return
  // Each answer is taken once, by the first who asks for it.
  window.asked = { '/api/v1/me': fetch('/api/v1/me', { headers: { accept: 'application/json' } }) }
  window.asked['/api/v1/me'].catch(() => undefined)
  const pages = JSON.parse(document.querySelector('meta[name=pages]')?.content ?? '{}')
  for (const file of pages[place[1]] ?? []) {
    const link = document.createElement('link')
    const isStyle = file.endsWith('.css')
    link.rel = isStyle ? 'preload' : 'modulepreload'
    if (isStyle) link.as = 'style'
    link.crossOrigin = ''
    link.href = file
    document.head.append(link)
  }
})()
