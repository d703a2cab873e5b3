import { jwkOf, signed } from './hostile-idp.ts'
import type { Json, Lie } from './hostile-idp.ts'
import { transportLies } from './hostile-transport.ts'
import { tokenLies } from './hostile-tokens.ts'
import type { ExpectedLie } from './hostile-tokens.ts'

const discovery = (change: Json): Lie => ({ discovery: (document) => ({ ...document, ...change }) })
const token = (change: Json): Lie => ({ token: (answer) => ({ ...answer, ...change }) })
/** The lies that one of our checks must stop, by name. */
export const lies: Readonly<Record<string, ExpectedLie>> = {
  ...transportLies,
  ...tokenLies,
  'other-issuer': {
    ...discovery({ issuer: 'http://127.0.0.1:9' }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'entra-template': {
    ...discovery({ issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'issuer-slash': {
    discovery: (document) => ({ ...document, issuer: `${String(document['issuer'])}/` }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'issuer-case': {
    discovery: (document) => ({ ...document, issuer: String(document['issuer']).toUpperCase() }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'issuer-missing': {
    ...discovery({ issuer: undefined }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'issuer-list': {
    discovery: (document) => ({ ...document, issuer: [document['issuer']] }),
    stops: ['discovery', 'issuer_mismatch'],
  },
  'no-authorization': {
    ...discovery({ authorization_endpoint: undefined }),
    stops: ['discovery', 'endpoint_missing'],
  },
  'no-token-endpoint': {
    ...discovery({ token_endpoint: undefined }),
    stops: ['discovery', 'endpoint_missing'],
  },
  'no-keys-address': {
    ...discovery({ jwks_uri: undefined }),
    stops: ['discovery', 'endpoint_missing'],
  },
  'plain-token-endpoint': {
    ...discovery({ token_endpoint: 'http://idp.example/token' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'file-keys': {
    ...discovery({ jwks_uri: 'file:///etc/passwd' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'data-keys': {
    ...discovery({ jwks_uri: 'data:application/json,{}' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'script-authorization': {
    ...discovery({ authorization_endpoint: 'javascript:alert(1)' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'relative-endpoint': {
    ...discovery({ token_endpoint: '/token' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'endpoint-user': {
    ...discovery({ token_endpoint: 'https://a:b@idp.example/t' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'endpoint-fragment': {
    ...discovery({ userinfo_endpoint: 'https://idp.example/u#x' }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'endpoint-number': {
    ...discovery({ token_endpoint: 7 }),
    stops: ['discovery', 'endpoint_syntax'],
  },
  'only-none': {
    ...discovery({ id_token_signing_alg_values_supported: ['none'] }),
    stops: ['discovery', 'algorithms'],
  },
  'only-hs256': {
    ...discovery({ id_token_signing_alg_values_supported: ['HS256'] }),
    stops: ['discovery', 'algorithms'],
  },
  'algorithms-text': {
    ...discovery({ id_token_signing_alg_values_supported: 'RS256' }),
    stops: ['discovery', 'member_type'],
  },
  'only-implicit': {
    ...discovery({ response_types_supported: ['id_token'] }),
    stops: ['discovery', 'code_flow'],
  },
  'no-code-grant': {
    ...discovery({ grant_types_supported: ['implicit'] }),
    stops: ['discovery', 'code_flow'],
  },
  'only-form-post': {
    ...discovery({ response_modes_supported: ['form_post'] }),
    stops: ['discovery', 'code_flow'],
  },
  'plain-pkce': {
    ...discovery({ code_challenge_methods_supported: ['plain'] }),
    stops: ['discovery', 'pkce'],
  },
  'only-tls-client': {
    ...discovery({ token_endpoint_auth_methods_supported: ['tls_client_auth'] }),
    stops: ['discovery', 'client_authentication'],
  },

  'keys-object': { keys: () => ({ keys: {} }), stops: ['keys', 'keys_shape'] },
  'keys-texts': { keys: () => ({ keys: ['rsa-1'] }), stops: ['keys', 'keys_shape'] },
  'keys-empty': { keys: () => ({ keys: [] }), stops: ['id_token', 'key_unknown'] },
  'keys-flood': {
    keys: (keys) => ({ keys: Array.from({ length: 200 }, () => keys[0]) }),
    stops: ['keys', 'keys_too_many'],
  },
  'keys-private': {
    keys: (_keys, idp) => ({
      keys: [{ ...idp.rsa.privateKey.export({ format: 'jwk' }), kid: 'rsa-1' }],
    }),
    stops: ['keys', 'key_private'],
  },
  'keys-doubled-kid': {
    keys: (keys, idp) => ({ keys: [...keys, jwkOf(idp.stranger, 'rsa-1')] }),
    stops: ['id_token', 'key_ambiguous'],
  },
  'keys-no-kid-several': {
    header: () => ({ alg: 'RS256' }),
    keys: (keys, idp) => ({ keys: [...keys, jwkOf(idp.stranger, 'rsa-2')] }),
    stops: ['id_token', 'key_ambiguous'],
  },
  'keys-for-encryption': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.rsa, 'rsa-1', { use: 'enc' })] }),
    stops: ['id_token', 'key_unknown'],
  },
  'keys-operation-sign': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.rsa, 'rsa-1', { key_ops: ['encrypt'] })] }),
    stops: ['id_token', 'key_unknown'],
  },
  'keys-other-algorithm': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.rsa, 'rsa-1', { alg: 'RS512' })] }),
    stops: ['id_token', 'key_unknown'],
  },
  'keys-other-type': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.ec, 'rsa-1')] }),
    stops: ['id_token', 'key_unknown'],
  },
  'keys-symmetric': {
    keys: () => ({ keys: [{ kty: 'oct', kid: 'rsa-1', k: 'c2VjcmV0' }] }),
    stops: ['id_token', 'key_unknown'],
  },
  'keys-weak': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.weak, 'weak')] }),
    sign: ({ claims: said }, idp) =>
      signed({ alg: 'RS256', kid: 'weak' }, said, 'RS256', idp.weak.privateKey),
    stops: ['id_token', 'key_unusable'],
  },
  'keys-exponent-one': {
    keys: (_keys, idp) => ({ keys: [jwkOf(idp.rsa, 'rsa-1', { e: 'AQ' })] }),
    stops: ['id_token', 'key_unusable'],
  },
  'keys-broken': {
    keys: () => ({ keys: [{ kty: 'RSA', kid: 'rsa-1', n: '!', e: 'AQAB' }] }),
    stops: ['id_token', 'key_unusable'],
  },

  'token-type-mac': { ...token({ token_type: 'mac' }), stops: ['token', 'token_type'] },
  'token-type-missing': { ...token({ token_type: undefined }), stops: ['token', 'token_type'] },
  'token-no-access-token': {
    ...token({ access_token: undefined }),
    stops: ['token', 'access_token'],
  },
  'token-access-token-number': { ...token({ access_token: 1 }), stops: ['token', 'access_token'] },
  'token-no-id-token': { ...token({ id_token: undefined }), stops: ['token', 'id_token_missing'] },
  'token-id-token-object': { ...token({ id_token: {} }), stops: ['token', 'token_member'] },
  'token-expires-text': { ...token({ expires_in: 'soon' }), stops: ['token', 'token_member'] },
  'token-error-200': { ...token({ error: 'invalid_grant' }), stops: ['token', 'token_refused'] },
  'token-invalid-client': {
    token: () => ({ status: 401, body: '{"error":"invalid_client"}' }),
    stops: ['token', 'token_refused'],
  },
  'token-error-script': {
    token: () => ({ status: 400, body: '{"error":"<script>alert(1)</script>"}' }),
    stops: ['token', 'token_refused'],
  },

  'userinfo-sub-list': {
    userinfo: (said) => ({ ...said, sub: [said['sub']] }),
    stops: ['userinfo', 'userinfo_subject'],
  },
  'userinfo-sub-case': {
    userinfo: (said) => ({ ...said, sub: String(said['sub']).toUpperCase() }),
    stops: ['userinfo', 'userinfo_subject'],
  },
  'userinfo-aggregated': {
    userinfo: () => ({
      _claim_names: { sub: 'src', email: 'src' },
      _claim_sources: { src: { endpoint: 'http://127.0.0.1:9/claims', access_token: 'x' } },
    }),
    stops: ['userinfo', 'userinfo_subject'],
  },
  'userinfo-signed-other-issuer': {
    userinfo: (said, idp, clientId) => ({
      headers: { 'content-type': 'application/jwt' },
      body: signed(
        { alg: 'RS256', kid: 'rsa-1' },
        { ...said, iss: 'https://evil.example', aud: clientId },
        'RS256',
        idp.rsa.privateKey,
      ),
    }),
    stops: ['userinfo', 'issuer'],
  },
  'userinfo-signed-as-json': {
    userinfo: (said, idp, clientId) => ({
      body: signed(
        { alg: 'RS256', kid: 'rsa-1' },
        { ...said, iss: idp.issuer, aud: clientId },
        'RS256',
        idp.rsa.privateKey,
      ),
    }),
    stops: ['userinfo', 'json'],
  },
  'userinfo-other-sub': {
    userinfo: (said) => ({ ...said, sub: 'eve' }),
    stops: ['userinfo', 'userinfo_subject'],
  },
  'userinfo-no-sub': {
    userinfo: () => ({ email: 'ada@acme.test' }),
    stops: ['userinfo', 'userinfo_subject'],
  },
  'userinfo-401': { userinfo: () => ({ status: 401, body: '{}' }), stops: ['userinfo', 'status'] },
  'userinfo-signed-stranger': {
    userinfo: (said, idp, clientId) => ({
      headers: { 'content-type': 'application/jwt' },
      body: signed(
        { alg: 'RS256', kid: 'rsa-1' },
        { ...said, iss: idp.issuer, aud: clientId },
        'RS256',
        idp.stranger.privateKey,
      ),
    }),
    stops: ['userinfo', 'signature'],
  },
  'userinfo-signed-none': {
    userinfo: (said, idp, clientId) => ({
      headers: { 'content-type': 'application/jwt' },
      body: signed(
        { alg: 'none' },
        { ...said, iss: idp.issuer, aud: clientId },
        'RS256',
        idp.rsa.privateKey,
      ),
    }),
    stops: ['userinfo', 'algorithm'],
  },
  'userinfo-signed-other-audience': {
    userinfo: (said, idp) => ({
      headers: { 'content-type': 'application/jwt' },
      body: signed(
        { alg: 'RS256', kid: 'rsa-1' },
        { ...said, iss: idp.issuer, aud: 'other' },
        'RS256',
        idp.rsa.privateKey,
      ),
    }),
    stops: ['userinfo', 'audience'],
  },

  'redirect-no-code': {
    redirect: (answer) => answer.delete('code'),
    stops: ['callback', 'parameter_missing'],
  },
  'redirect-empty-code': {
    redirect: (answer) => answer.set('code', ''),
    stops: ['callback', 'parameter_missing'],
  },
  'redirect-doubled-code': {
    redirect: (answer) => answer.append('code', 'x'),
    stops: ['callback', 'parameter_duplicate'],
  },
  'redirect-doubled-iss': {
    redirect: (answer) => answer.append('iss', 'x'),
    stops: ['callback', 'parameter_duplicate'],
  },
  'redirect-list-code': {
    redirect: (answer) => answer.append('code[0]', 'x'),
    stops: ['callback', 'parameter_syntax'],
  },
  'redirect-control-code': {
    redirect: (answer) => answer.set('code', 'a\r\nb'),
    stops: ['callback', 'parameter_syntax'],
  },
  'redirect-no-state': {
    redirect: (answer) => answer.delete('state'),
    stops: ['callback', 'parameter_missing'],
  },
  'redirect-other-state': {
    redirect: (answer) => answer.set('state', 'x'),
    stops: ['callback', 'state'],
  },
  'redirect-no-iss': {
    redirect: (answer) => answer.delete('iss'),
    stops: ['callback', 'response_issuer_missing'],
  },
  'redirect-other-iss': {
    redirect: (answer) => answer.set('iss', 'https://evil.example'),
    stops: ['callback', 'response_issuer'],
  },
  'redirect-error': {
    redirect: (answer) => {
      answer.delete('code')
      answer.set('error', 'access_denied')
      answer.set('error_description', '<img src=x onerror=alert(1)>')
    },
    stops: ['callback', 'refused'],
  },
  'redirect-error-and-code': {
    redirect: (answer) => answer.set('error', 'server_error'),
    stops: ['callback', 'parameter_mixed'],
  },
  'redirect-error-other-iss': {
    redirect: (answer) => {
      answer.set('iss', 'https://evil.example')
      answer.set('error', 'server_error')
    },
    stops: ['callback', 'response_issuer'],
  },
  'redirect-implicit': {
    redirect: (answer) => answer.set('id_token', 'e30.e30.e30'),
    stops: ['callback', 'parameter_unexpected'],
  },
  'redirect-jarm': {
    redirect: (answer) => answer.set('response', 'e30.e30.e30'),
    stops: ['callback', 'parameter_unexpected'],
  },
}
