import { signatureAlgorithms } from '../secrets/index.ts'
import type { SignatureAlgorithm } from '../secrets/index.ts'
import { call, objectOf } from './answers.ts'
import type { Fetch } from './answers.ts'
import { fault, quoted } from './faults.ts'
import { isTextList } from './json.ts'
import type { JsonObject } from './json.ts'

/** How the client authenticates at the token endpoint. */
export type ClientAuthentication = 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** A provider's validated discovery document. */
export interface Provider {
  readonly issuer: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly keysAddress: string
  readonly userinfoEndpoint: string | undefined
  readonly endSessionEndpoint: string | undefined
  readonly algorithms: readonly SignatureAlgorithm[]
  readonly clientAuthentication: readonly string[]
  /** Whether the provider promises to send `iss` in every response (RFC 9207, section 3). */
  readonly namesItself: boolean
  readonly backchannelLogout: boolean
  readonly scopes: readonly string[] | undefined
  /** Whether each client gets its own subjects (OpenID Connect Core 1.0, section 8). */
  readonly hasPairwiseSubjects: boolean
}

const maxBytes = 256 * 1024
const timeoutMs = 5_000

/** Fetches and validates an issuer's discovery document (OpenID Connect Discovery 1.0, section 4). */
export async function discover(
  issuer: string,
  deps: { fetch: Fetch; allowLoopback: boolean },
): Promise<Provider> {
  const base = checkedIssuer(issuer, deps.allowLoopback)
  const answer = await call(deps.fetch, {
    step: 'discovery',
    url: `${base.replace(/\/$/, '')}/.well-known/openid-configuration`,
    contentTypes: ['application/json'],
    maxBytes,
    timeoutMs,
    absent:
      'There is no discovery document: the issuer is the part of its address before /.well-known/openid-configuration, with the realm, tenant or server in its path.',
  })
  return checkedDocument(objectOf(answer, 'discovery'), issuer, deps.allowLoopback)
}

/**
 * Returns the issuer unchanged. Throws unless it is an https URL of at most 512 characters, without query, fragment or
 * credentials; if `allowLoopback` is true, http is accepted on loopback.
 */
export function checkedIssuer(issuer: string, allowLoopback: boolean): string {
  if (issuer.length > 512 || /[?#\s]/.test(issuer)) throw fault('issuer_syntax', 'discovery')
  if (acceptableUrl(issuer, allowLoopback) === undefined) throw fault('issuer_syntax', 'discovery')
  return issuer
}

/**
 * Returns the best authentication method that the provider supports and this kind of credential allows. Throws if there
 * is none.
 */
export function clientAuthenticationFor(
  provider: Provider,
  credential: 'secret' | 'key',
): ClientAuthentication {
  const ours: readonly ClientAuthentication[] =
    credential === 'key' ? ['private_key_jwt'] : ['client_secret_basic', 'client_secret_post']
  const found = ours.find((way) => provider.clientAuthentication.includes(way))
  if (found === undefined) {
    throw fault(
      'client_authentication',
      'discovery',
      `It offers ${quoted(provider.clientAuthentication.join(', '))}.`,
    )
  }
  return found
}

function checkedDocument(document: JsonObject, issuer: string, allowLoopback: boolean): Provider {
  if (document['issuer'] !== issuer) {
    throw fault('issuer_mismatch', 'discovery', otherIssuer(document['issuer']))
  }
  const endpoints = endpointsOf(document, issuer, allowLoopback)
  refuseOtherFlows(document)
  return {
    issuer,
    ...endpoints,
    algorithms: algorithmsOf(document),
    clientAuthentication: texts(document, 'token_endpoint_auth_methods_supported') ?? [
      'client_secret_basic',
    ],
    namesItself: flag(document, 'authorization_response_iss_parameter_supported'),
    backchannelLogout: flag(document, 'backchannel_logout_supported'),
    scopes: texts(document, 'scopes_supported'),
    hasPairwiseSubjects: texts(document, 'subject_types_supported')?.join() === 'pairwise',
  }
}

function otherIssuer(said: unknown): string {
  // The document of Entra's multi-tenant URLs, such as /common/v2.0, names an issuer with a placeholder, which no
  // token's issuer equals.
  if (typeof said === 'string' && said.includes('{tenantid}')) {
    return 'It is the address of all tenants of Microsoft Entra. Enter your own: https://login.microsoftonline.com/<tenant id>/v2.0, with the Directory (tenant) ID of its overview page.'
  }
  return `It says ${quoted(said)}; enter exactly that if it is yours.`
}

function endpointsOf(document: JsonObject, issuer: string, allowLoopback: boolean) {
  const at = (name: string): string | undefined => {
    const value = document[name]
    if (value === undefined) return undefined
    const url = typeof value === 'string' ? acceptableUrl(value, allowLoopback) : undefined
    // A provider on https must never send people or data to plain http.
    const downgraded = issuer.startsWith('https:') && url?.protocol !== 'https:'
    if (url === undefined || downgraded) {
      throw fault('endpoint_syntax', 'discovery', `${name} is ${quoted(value)}.`)
    }
    return url.href
  }
  const required = (name: string): string => {
    const url = at(name)
    if (url === undefined) throw fault('endpoint_missing', 'discovery', `${name} is missing.`)
    return url
  }
  return {
    authorizationEndpoint: required('authorization_endpoint'),
    tokenEndpoint: required('token_endpoint'),
    keysAddress: required('jwks_uri'),
    userinfoEndpoint: at('userinfo_endpoint'),
    endSessionEndpoint: at('end_session_endpoint'),
  }
}

function refuseOtherFlows(document: JsonObject): void {
  const lacks = (name: string, value: string): boolean => {
    const list = texts(document, name)
    return list !== undefined && !list.includes(value)
  }
  if (lacks('response_types_supported', 'code')) throw fault('code_flow', 'discovery')
  if (lacks('grant_types_supported', 'authorization_code')) throw fault('code_flow', 'discovery')
  if (lacks('response_modes_supported', 'query')) throw fault('code_flow', 'discovery')
  if (lacks('code_challenge_methods_supported', 'S256')) throw fault('pkce', 'discovery')
}

// Returns the algorithms that a token's header may name. If the document lacks the list of algorithms, which OpenID
// Connect Discovery 1.0 requires (section 3), RS256 is assumed.
function algorithmsOf(document: JsonObject): readonly SignatureAlgorithm[] {
  const named = texts(document, 'id_token_signing_alg_values_supported') ?? ['RS256']
  const accepted = (Object.keys(signatureAlgorithms) as SignatureAlgorithm[]).filter((algorithm) =>
    named.includes(algorithm),
  )
  if (accepted.length === 0) {
    throw fault('algorithms', 'discovery', `It offers ${quoted(named.join(', '))}.`)
  }
  // `Ed25519` is the newer name for EdDSA with the curve Ed25519 (RFC 9864): a provider that lists one name supports
  // the other.
  const edwards = accepted.includes('EdDSA') || accepted.includes('Ed25519')
  return edwards ? [...new Set([...accepted, 'EdDSA', 'Ed25519'] as const)] : accepted
}

function texts(document: JsonObject, name: string): readonly string[] | undefined {
  const value = document[name]
  if (value === undefined) return undefined
  if (!isTextList(value)) throw fault('member_type', 'discovery', `${name} is not a list of texts.`)
  return value
}

function flag(document: JsonObject, name: string): boolean {
  const value = document[name]
  if (value === undefined) return false
  if (typeof value !== 'boolean') {
    throw fault('member_type', 'discovery', `${name} is neither true nor false.`)
  }
  return value
}

function acceptableUrl(text: string, allowLoopback: boolean): URL | undefined {
  if (text.length > 2_048 || !/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text))
    return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.hash !== '' || text.includes('#')) {
    return undefined
  }
  if (url.protocol === 'https:') return url
  return allowLoopback && isLoopback(url.hostname) ? url : undefined
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
