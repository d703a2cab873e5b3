import type { Connection, PendingLink } from '../sso/index.ts'
import { escapeHtml } from '../html.ts'
import { page, pageHeaders, type Page } from './pages.ts'

const confirmPath = '/api/v1/auth/sso/confirm'
const providerTitles: Readonly<Record<string, string>> = { github: 'GitHub', google: 'Google' }

/** Asks the holder of an existing account with the person's e-mail address to sign in as before and confirm. */
export function confirmRequiredPage(
  link: PendingLink,
  providers: readonly string[],
  requestId: string,
): Page {
  const title = 'Confirm with your existing sign-in'
  const ways = providers
    .map((name) => {
      const label = escapeHtml(providerTitles[name] ?? name)
      return `<li><a href="/api/v1/auth/${name}/login?return_to=${confirmPath}">Continue with ${label}</a></li>`
    })
    .join('\n')
  return {
    status: 403,
    headers: { ...pageHeaders, 'Intercept-Refused': 'sso_confirmation_required' },
    html: page(
      title,
      '',
      `<h1>${title}</h1>
<p>There is an account with the address <strong>${escapeHtml(link.person.mail?.address ?? '')}</strong> already.
Sign in the way you did before; then confirm here that the company sign-in is yours too.</p>
<ul>
${ways}
<li><a href="${confirmPath}">I am signed in already</a></li>
</ul>
<p>Not your account? Ask an administrator of the organization. Nothing was changed.</p>
<p class="note">sso_confirmation_required · ${escapeHtml(requestId)}</p>`,
    ),
  }
}

/** Builds the page that asks a signed-in person to confirm that the company sign-in is added to their account. */
export function confirmPage(link: PendingLink, name: string, mark: string): Page {
  return {
    status: 200,
    // The form is accepted only with an Origin header of our own, which `no-referrer` would turn into `null`.
    headers: { ...pageHeaders, 'Referrer-Policy': 'same-origin' },
    html: page(
      'Add the company sign-in',
      '',
      `<h1>Add the company sign-in</h1>
<p>You are signed in as <strong>${escapeHtml(name)}</strong>. From now on the company sign-in of
<strong>${escapeHtml(link.person.mail?.address ?? '')}</strong> (subject <code>${escapeHtml(link.person.subject)}</code>
at ${escapeHtml(link.person.issuer)}) opens your account in that organization too.</p>
<form method="post" action="/api/v1/auth/sso/confirmed">${waiting(mark)}<button>Yes, this is me</button></form>
<p><a href="/">No, leave everything as it is</a></p>`,
    ),
  }
}

/**
 * Builds the page that asks before replacing the person signed in with this browser, when another site began the
 * sign-in.
 */
export function switchPage(
  input: { readonly name: string; readonly person: { readonly issuer: string } },
  now: string,
  mark: string,
): Page {
  const title = 'Sign in as somebody else?'
  return {
    status: 200,
    headers: { ...pageHeaders, 'Referrer-Policy': 'same-origin' },
    html: page(
      title,
      '',
      `<h1>${title}</h1>
<p>This browser is signed in as <strong>${escapeHtml(now)}</strong>. A sign-in that began on another site would change
that to <strong>${escapeHtml(input.name)}</strong>, by the word of ${escapeHtml(input.person.issuer)}.</p>
<form method="post" action="/api/v1/auth/sso/switched">${waiting(mark)}<button>Sign in as ${escapeHtml(input.name)}</button></form>
<p><a href="/">No, stay signed in as ${escapeHtml(now)}</a></p>`,
    ),
  }
}

function waiting(mark: string): string {
  return `<input type="hidden" name="waiting" value="${escapeHtml(mark)}">`
}

/** Builds the page at the end of a test; the page that started the test shows each step. */
export function testedPage(connection: Connection, passed: boolean): Page {
  const title = passed ? 'The test has passed' : 'The test has stopped at a step'
  return {
    status: 200,
    headers: pageHeaders,
    html: page(
      title,
      '',
      `<h1>${title}</h1>
<p>Connection ${escapeHtml(connection.name)}. Nobody was signed in. Each step is explained on the page that started
the test; you can close this window.</p>`,
    ),
  }
}
