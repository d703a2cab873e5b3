import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { organizationPages } from './pages.ts'

test('the tests that visit every page of an organization visit every one that the router has', () => {
  const file = join(import.meta.dirname, '../../web/src/router.tsx')
  const routes = [
    ...readFileSync(file, 'utf8').matchAll(
      /getParentRoute: \(\) => organization,\s+path: '\/(?<path>[^']*)'/g,
    ),
  ].map(({ groups }) => groups?.['path'] ?? '')
  assert.ok(routes.includes('keys/$key'))
  const visited = Object.values(organizationPages).map((page) => page.split('?', 1)[0] ?? '')
  for (const route of routes) {
    const parts = route.split('/').map((part) => (part.startsWith('$') ? '[^/]+' : part))
    const shape = new RegExp(`^${route === '' ? '' : `/${parts.join('/')}`}$`)
    assert.ok(
      visited.some((page) => shape.test(page)),
      route,
    )
  }
})
