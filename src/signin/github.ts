import { Problem } from '../errors.ts'
import type { Outbound } from '../http/index.ts'
import { readCallback } from '../oidc/index.ts'
import type { SignInProvider } from './provider.ts'

const deadlineMs = 10_000
const maxBytes = 256 * 1024

/** GitHub, or a GitHub Enterprise server: OAuth 2.0 and its API, since it speaks no OpenID Connect to browsers. */
export function createGithub(deps: {
  readonly outbound: Pick<Outbound, 'request'>
  readonly url: string
  readonly apiUrl: string
  readonly clientId: string
  readonly clientSecret: string
}): SignInProvider {
  const { outbound, clientId } = deps
  const tokenEndpoint = `${deps.url}/login/oauth/access_token`
  // What GitHub calls itself in answers, should it send `iss` (RFC 9207).
  const answerIssuer = `${deps.url}/login/oauth`

  async function ask(
    url: string,
    more: { form?: URLSearchParams; token?: string },
  ): Promise<unknown> {
    try {
      const answer = await outbound.request({
        url,
        method: more.form ? 'POST' : 'GET',
        headers: {
          accept: 'application/json',
          'user-agent': 'intercept',
          ...(more.form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
          ...(more.token === undefined ? {} : { authorization: `Bearer ${more.token}` }),
        },
        ...(more.form ? { body: Buffer.from(more.form.toString()) } : {}),
        deadlineMs,
        maxResponseBytes: maxBytes,
      })
      if (answer.status !== 200 || answer.truncated) {
        throw new Error(`${new URL(url).pathname} answered ${answer.status}`)
      }
      return JSON.parse(Buffer.from(answer.body).toString('utf8')) as unknown
    } catch (cause) {
      throw new Problem('idp_unreachable', 'GitHub did not answer as it should.', { cause })
    }
  }

  async function exchange(form: URLSearchParams): Promise<string> {
    const answer = (await ask(tokenEndpoint, { form })) as Record<string, unknown>
    const { access_token: token, error } = answer
    if (typeof token !== 'string' || token === '') {
      // GitHub says so with status 200 and a member `error`.
      throw new Problem('idp_token_refused', 'GitHub did not accept the code. Start again.', {
        cause: new Error(`GitHub: ${String(error)}`),
      })
    }
    return token
  }

  return {
    name: 'github',
    async start(fresh, redirectUri) {
      const url = new URL(`${deps.url}/login/oauth/authorize`)
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state: fresh.state,
        code_challenge: fresh.challenge,
        code_challenge_method: 'S256',
      }).toString()
      return { url: url.href, issuer: deps.url, tokenEndpoint }
    },
    async finish(answer) {
      const provider = { issuer: answerIssuer, namesItself: false }
      const { code } = readCallback(answer.query, { state: answer.state, provider })
      if (answer.issuer !== deps.url || answer.tokenEndpoint !== tokenEndpoint) {
        throw new Problem('callback_invalid', 'The provider has changed meanwhile. Start again.')
      }
      const token = await exchange(
        new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: clientId,
          client_secret: deps.clientSecret,
          code,
          redirect_uri: answer.redirectUri,
          code_verifier: answer.verifier,
        }),
      )
      // The token lives as long as these two calls and is never stored.
      const user = parseUser(await ask(`${deps.apiUrl}/user`, { token }))
      const email = primaryEmail(await ask(`${deps.apiUrl}/user/emails`, { token }))
      return {
        provider: 'github',
        connectionId: '',
        issuer: deps.url,
        subject: String(user.id),
        email: email?.email,
        emailVerified: email?.verified ?? false,
        name: user.name,
      }
    },
  }
}

/** The numeric id is the person; the login name can be given to somebody else. */
function parseUser(value: unknown): { id: number; name: string } {
  const { id, name, login } = (value ?? {}) as Record<string, unknown>
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) {
    throw new Problem('idp_userinfo_invalid', 'GitHub did not say who you are.')
  }
  const known = [name, login].find((one) => typeof one === 'string' && one !== '')
  return { id, name: typeof known === 'string' ? known : String(id) }
}

function primaryEmail(value: unknown): { email: string; verified: boolean } | undefined {
  const all = (Array.isArray(value) ? value : []) as readonly Record<string, unknown>[]
  const primary = all.find((one) => one['primary'] === true && typeof one['email'] === 'string')
  return primary && { email: String(primary['email']), verified: primary['verified'] === true }
}
