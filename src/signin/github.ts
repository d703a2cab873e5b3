import { Problem } from '../errors.ts'
import type { Outbound } from '../http/index.ts'
import { readCallback } from '../oidc/index.ts'
import type { ProvenIdentity } from '../organizations/index.ts'
import type { Freshness } from './login-state.ts'
import type { ProviderResponse, SignInProvider } from './provider.ts'

const deadlineMs = 10_000
const maxBytes = 256 * 1024

interface GithubDeps {
  readonly outbound: Pick<Outbound, 'request'>
  readonly url: string
  readonly apiUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

/**
 * Signs in with GitHub or a GitHub Enterprise server, by OAuth 2.0 and GitHub's API, because GitHub offers no OpenID
 * Connect.
 */
export class Github implements SignInProvider {
  readonly name = 'github'
  readonly #deps: GithubDeps
  readonly #tokenEndpoint: string

  constructor(deps: GithubDeps) {
    this.#deps = deps
    this.#tokenEndpoint = `${deps.url}/login/oauth/access_token`
  }

  async start(
    fresh: Freshness,
    redirectUri: string,
  ): Promise<{ url: string; issuer: string; tokenEndpoint: string }> {
    const { url: issuer, clientId } = this.#deps
    const url = new URL(`${issuer}/login/oauth/authorize`)
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'read:user user:email',
      state: fresh.state,
      code_challenge: fresh.challenge,
      code_challenge_method: 'S256',
    }).toString()
    return { url: url.href, issuer, tokenEndpoint: this.#tokenEndpoint }
  }

  async finish(response: ProviderResponse): Promise<ProvenIdentity> {
    const { url: issuer, apiUrl } = this.#deps
    // GitHub sends no `iss` in responses (RFC 9207); if it ever does, this must be its value.
    const provider = { issuer: `${issuer}/login/oauth`, namesItself: false }
    const { code } = readCallback(response.query, { state: response.state, provider })
    if (response.issuer !== issuer || response.tokenEndpoint !== this.#tokenEndpoint) {
      throw new Problem('callback_invalid', 'The provider has changed meanwhile. Start again.')
    }
    const token = await this.#exchange(code, response)
    // The token lives only for these two calls and is never stored.
    const user = parseUser(await this.#request(`${apiUrl}/user`, { token }))
    const email = primaryEmail(await this.#request(`${apiUrl}/user/emails`, { token }))
    return {
      provider: 'github',
      connectionId: '',
      issuer,
      subject: String(user.id),
      email: email?.email,
      emailVerified: email?.verified ?? false,
      name: user.name,
    }
  }

  async #exchange(code: string, { redirectUri, verifier }: ProviderResponse): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: this.#deps.clientId,
      client_secret: this.#deps.clientSecret,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
    const answer = (await this.#request(this.#tokenEndpoint, { form })) as Record<string, unknown>
    const { access_token: token, error } = answer
    if (typeof token !== 'string' || token === '') {
      // GitHub reports errors with status 200 and a member `error`.
      throw new Problem('idp_token_refused', 'GitHub did not accept the code. Start again.', {
        cause: new Error(`GitHub: ${String(error)}`),
      })
    }
    return token
  }

  async #request(
    url: string,
    { form, token }: { form?: URLSearchParams; token?: string },
  ): Promise<unknown> {
    try {
      const answer = await this.#deps.outbound.request({
        url,
        method: form ? 'POST' : 'GET',
        headers: {
          accept: 'application/json',
          'user-agent': 'intercept',
          ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(form ? { body: Buffer.from(form.toString()) } : {}),
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
}

/** Parses a user; only the numeric id identifies the person, because a login name can be reassigned. */
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
