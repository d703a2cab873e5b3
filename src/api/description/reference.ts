import { escapeHtml } from '../../html.ts'
import type { AnyRoute, RouteTable } from '../core/route.ts'

/** Renders the table of routes as one page, without scripts or external content. */
export function renderReference(table: RouteTable, baseUrl: string): string {
  const rows = Object.entries(table).map(([name, route]) => section(name, route))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Intercept</title>
<link rel="stylesheet" href="/docs/api.css">
</head>
<body>
<main>
<h1>API reference</h1>
<p>Everything below <code>${escapeHtml(baseUrl)}/api/v1</code>: for people with a session and for programs with an access token.
The same as <a href="/api/v1/openapi.json">OpenAPI 3.1</a>. Requests that change something send JSON and, with a
session, our <code>Origin</code>; edits may send <code>If-Match</code>, creations an <code>Idempotency-Key</code>; lists answer
<code>items</code> and <code>next</code>, which goes into <code>after</code>. Refusals are
<a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a> problems, each with a page at <code>/problems/…</code>.</p>
${rows.join('\n')}
</main>
</body>
</html>
`
}

export const referenceStyle = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 0; background: light-dark(#fbfaf7, #0f1319); color: light-dark(#171f28, #ecebe7) }
main { max-width: 60rem; margin: 0 auto; padding: 32px 16px }
h1 { font-size: 2rem; line-height: 1.2 }
h2 { font: 600 1rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; margin: 32px 0 4px }
p { margin: 4px 0 8px }
code, pre { font-family: ui-monospace, monospace; font-size: .85rem }
pre { overflow-x: auto; padding: 12px; border-radius: 6px; background: light-dark(#f4f2ee, #090d12) }
a { color: light-dark(#214f7f, #86beee) }
.note { color: light-dark(#565d66, #a3aab2) }
`

function section(name: string, route: AnyRoute): string {
  const parts = [
    ['Query', route.query],
    ['Body', route.body],
    [`Answer ${route.status}`, route.answer],
  ] as const
  const schemas = parts.flatMap(([title, schema]) =>
    schema
      ? [
          `<details><summary>${title}</summary><pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`,
        ]
      : [],
  )
  return `<section id="${escapeHtml(name.replaceAll(/[^\w]+/g, '-'))}">
<h2>${escapeHtml(name)}</h2>
<p>${escapeHtml(route.summary)}. <span class="note">For ${escapeHtml(accessOf(route))}.</span></p>
${schemas.join('\n')}
</section>`
}

function accessOf({ permission, freshSignIn }: AnyRoute): string {
  if (permission === 'anyone') return 'anyone'
  if (permission === 'operator') return 'access tokens of an operator'
  const signedIn = 'who signed in within the last hour'
  if (permission === 'signed-in') return `people ${freshSignIn ? signedIn : 'who are signed in'}`
  return freshSignIn
    ? `members ${signedIn} and access tokens, with ${permission}`
    : `members and access tokens with ${permission}`
}
