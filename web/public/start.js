// This is a classic script, so that it runs before the first paint and long before the dashboard's code has arrived; a
// module would be deferred.
;(() => {
  // A list's first rows are shown no earlier than this time after the start of the visit. On a fast connection, the
  // dashboard's code draws the list before then, so rows shown even earlier would only flash.
  const rowsAfterMs = 600
  const maxRows = 30
  const { dataset } = document.documentElement
  const { pathname, search } = location
  let timeZone
  let language = navigator.languages
    .map((one) => one.slice(0, 2))
    .find((one) => /^(en|de)$/.test(one))
  try {
    // Applied before the first paint, so that the other theme never flashes.
    const theme = localStorage.getItem('theme')
    if (theme === 'light' || theme === 'dark') dataset.theme = theme
    // Fonts loaded by an earlier visit are in the browser's cache; otherwise they are loaded after the first page.
    if (localStorage.getItem('fonts') === 'loaded') dataset.fonts = ''
    language = localStorage.getItem('language') ?? language
    if (localStorage.getItem('time-zone') === 'utc') timeZone = 'UTC'
  } catch {
    // Storage is unavailable, so there are no choices of an earlier visit to apply.
  }

  const appFiles = document.querySelector('meta[name=app]')?.content.split(' ') ?? []
  const place = /^\/o\/([^/]+)\/?([^/]*)\/?$/.exec(pathname)
  if (place === null) return appFiles.forEach(preload)
  const [, organization, name] = place
  const pages = JSON.parse(document.querySelector('meta[name=pages]')?.content ?? '{}')
  const page = pages[name || 'overview']

  // The responses to the requests sent below, by URL; call.ts takes each of them once.
  window.asked = {}
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
    if (page?.rows !== undefined) showRows(Object.keys(window.asked)[0]).catch(() => undefined)
  }
  ask('/api/v1/me')
  for (const file of [...appFiles, ...(page?.files ?? [])]) preload(file)
  // Waits for the placeholder in index.html; DOMContentLoaded would be too late, because it waits for the dashboard's
  // code.
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

  /**
   * Writes the heading and links to the pages that every member may see. They stay until the dashboard's code draws the
   * page.
   */
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

  /** Shows the first rows of the page's list as plain text until its code has arrived and draws the list. */
  async function showRows(address) {
    const response = await window.asked[address]
    if (!response.ok) return
    const { items } = await response.clone().json()
    await new Promise((done) => setTimeout(done, rowsAfterMs - performance.now()))
    const place = document.querySelector('.shell-page > span:last-child')
    if (place === null || items.length === 0) return
    const table = document.createElement('table')
    for (const item of items.slice(0, maxRows)) {
      const row = table.insertRow()
      for (const fields of page.rows) {
        const texts = fields.split(' ').map((field) => textOf(item[field], field))
        row.insertCell().textContent = texts.join(' ')
      }
    }
    place.replaceWith(table)
  }

  function textOf(value, field) {
    if (field !== 'at') return value ?? ''
    const time = new Date(value)
    const isToday = time.toDateString() === new Date().toDateString()
    const day = isToday ? {} : { month: 'short', day: '2-digit' }
    const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZone }
    return time.toLocaleString(language === 'de' ? 'de' : 'en-GB', { ...day, ...clock })
  }
})()
