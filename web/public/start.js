// Runs before the first paint and long before the dashboard's code is there. A module would be deferred.
;(() => {
  const { dataset } = document.documentElement
  const { pathname, search } = location
  let language = navigator.languages
    .map((one) => one.slice(0, 2))
    .find((one) => /^(en|de)$/.test(one))
  try {
    // A chosen theme never flashes.
    const theme = localStorage.getItem('theme')
    if (theme === 'light' || theme === 'dark') dataset.theme = theme
    // Fonts that an earlier visit has loaded are in the browser's cache; otherwise they come after the first page.
    if (localStorage.getItem('fonts') === 'loaded') dataset.fonts = ''
    language = localStorage.getItem('language') ?? language
  } catch {
    // Storage is closed to this page: the system's theme, fonts and language it is.
  }

  const place = /^\/o\/([^/]+)\/?([^/]*)\/?$/.exec(pathname)
  if (place === null) return
  const [, organization, name] = place
  const pages = JSON.parse(document.querySelector('meta[name=pages]')?.content ?? '{}')
  const page = pages[name || 'overview']

  // Each answer is taken once, by the first who asks for it.
  window.asked = {}
  ask('/api/v1/me')
  if (search === '') {
    const quarterMs = 900_000
    const to = Math.ceil(Date.now() / quarterMs) * quarterMs
    const times = { from: to - 96 * quarterMs, to }
    for (const wanted of page?.asks ?? []) {
      const filled = wanted.replaceAll(/{(\w+)}/g, (_, time) =>
        encodeURIComponent(new Date(times[time]).toISOString()),
      )
      ask(`/api/v1/organizations/${organization}${filled}`)
    }
  }
  for (const file of page?.files ?? []) preload(file)
  // The end of parsing would be too late: it waits for the dashboard's code.
  const parsed = new MutationObserver(() => {
    if (document.querySelector('.shell-page > span + span') === null) return
    parsed.disconnect()
    write()
  })
  parsed.observe(document, { childList: true, subtree: true })

  function ask(address) {
    window.asked[address] = fetch(address, { headers: { accept: 'application/json' } })
    window.asked[address].catch(() => undefined)
  }

  function preload(file) {
    const link = document.createElement('link')
    const isStyle = file.endsWith('.css')
    link.rel = isStyle ? 'preload' : 'modulepreload'
    if (isStyle) link.as = 'style'
    link.crossOrigin = ''
    link.href = file
    document.head.append(link)
  }

  /** The heading and the pages that everybody may see: they can be read, and gone to, while the rest is on its way. */
  function write() {
    const titleOf = ({ title }) => title[language] ?? title.en
    const heading = document.querySelector('.shell-title')
    if (heading !== null && page !== undefined) heading.textContent = titleOf(page)
    const links = Object.entries(pages).flatMap(([one, target]) => {
      if (!target.isEverybodys) return []
      const link = document.createElement('a')
      link.href = `/o/${organization}${one === 'overview' ? '' : `/${one}`}`
      link.textContent = titleOf(target)
      if (target === page) link.setAttribute('aria-current', 'page')
      return [link]
    })
    document.querySelector('.shell-nav')?.replaceChildren(...links)
  }
})()
