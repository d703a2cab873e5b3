import { escapeHtml, htmlDocument } from '../html.ts'
import { Problem, problems } from '../errors.ts'

/** A sign-in page; it loads nothing from other hosts. */
export interface Page {
  readonly status: number
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

const stylePath = '/api/v1/auth/page.css'
const scriptPath = '/api/v1/auth/page.js'

/** The headers of these pages: no foreign content, no caching, and no referrer unless a page needs one. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  // The callback's URL contains a code, which must not leak as a referrer.
  'Referrer-Policy': 'no-referrer',
}

/**
 * Ends a sign-in with a page of our own that redirects by itself. A direct redirect would still count as coming from
 * the provider's site, and the browser would not send the Strict cookie.
 */
export function landingPage(path: string): Page {
  const to = `/api/v1/auth/landed?return_to=${encodeURIComponent(path).replaceAll('%2F', '/')}`
  return {
    status: 200,
    headers: { ...pageHeaders, Refresh: `0; url=${to}` },
    html: page(
      'Signed in',
      `<meta http-equiv="refresh" content="0; url=${escapeHtml(to)}">`,
      `<h1>Signed in</h1>\n<p><a href="${escapeHtml(to)}">Go on</a></p>`,
    ),
  }
}

/** Says that the browser did not keep the session's cookie, instead of asking the person to sign in again and again. */
export function cookieLostPage(baseUrl: string): Page {
  return {
    status: 400,
    headers: pageHeaders,
    html: page(
      'The cookie was not kept',
      '',
      `<h1>Your browser did not keep the sign-in cookie</h1>
<p>Intercept is open at <code>${escapeHtml(baseUrl)}</code>. Browsers keep the cookie only over https or on
localhost; Safari keeps it only over https. It is also lost where cookies are switched off.</p>
<p>Open Intercept at exactly this address, over https, or use another browser, then
<a href="/sign-in">sign in again</a>.</p>`,
    ),
  }
}

/** How a person can continue after a refusal. */
export interface WayOn {
  /** Where the same sign-in can be restarted. */
  readonly retry: string | undefined
  /** The organization whose administrators can help; without one, the operator of Intercept can. */
  readonly organization: string | undefined
}

/** Builds the page that shows a refusal to a person who is signing in. */
export function refusalPage(
  problem: Problem,
  requestId: string,
  { retry, organization }: WayOn,
): Page {
  const { title } = problems[problem.code]
  const whom =
    organization === undefined
      ? 'whoever runs Intercept here'
      : `an administrator of ${escapeHtml(organization)}`
  const again = retry === undefined ? '' : `<a href="${escapeHtml(retry)}">Try again</a> · `
  return {
    status: problem.status,
    headers: { ...pageHeaders, ...problem.headers, 'Intercept-Refused': problem.code },
    html: page(
      title,
      '',
      `<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(problem.message)}</p>
<p>${again}<a href="/sign-in">Sign in another way</a> · <a href="/problems/${problem.code}">What this means</a></p>
<p>Does it go on? Ask ${whom} and give them the line below.</p>
<p class="note">${problem.code} · ${escapeHtml(requestId)}</p>`,
    ),
  }
}

/**
 * Builds the page behind a sign-in link. It submits its form by a script, so that a link preview does not use the link
 * up.
 */
export function signInLinkPage(token: string): Page {
  return {
    status: 200,
    // The form is accepted only with an Origin header of our own, which `no-referrer` would turn into `null`.
    headers: { ...pageHeaders, 'Referrer-Policy': 'same-origin' },
    html: page(
      'Sign in',
      `<script src="${scriptPath}" defer></script>`,
      `<h1>Sign in</h1>
<form method="post" action="/sign-in-link"><input type="hidden" name="token" value="${escapeHtml(token)}">
<button>Sign in with this link</button></form>`,
    ),
  }
}

/** The style sheet and script of these pages, by path. */
export const pageFiles: readonly { path: string; type: string; text: string }[] = [
  {
    path: stylePath,
    type: 'text/css; charset=utf-8',
    text: `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 0; background: light-dark(#fbfaf7, #0f1319); color: light-dark(#171f28, #ecebe7) }
main { max-width: 34rem; margin: 12vh auto 0; padding: 0 16px }
h1 { font-size: 1.5rem; line-height: 1.2 }
a { color: light-dark(#214f7f, #86beee) }
button { font: inherit; padding: 6px 16px; min-height: 34px; border: 0; border-radius: 6px;
  background: light-dark(#214f7f, #86beee); color: light-dark(#fff, #090d12) }
.note { color: light-dark(#565d66, #a3aab2); font-family: ui-monospace, monospace; font-size: .8rem }
`,
  },
  {
    path: scriptPath,
    type: 'text/javascript; charset=utf-8',
    text: 'document.forms[0]?.submit()\n',
  },
]

/** Builds a complete sign-in page; `head` and `body` are HTML, the title is text. */
export function page(title: string, head: string, body: string): string {
  return htmlDocument({
    title,
    head: `<link rel="stylesheet" href="${stylePath}">\n${head}`,
    body: `<main>\n${body}\n</main>`,
  })
}
