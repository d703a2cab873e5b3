import type { Check, Step } from '../../src/oidc/index.ts'
import { generateKeyPairSync, sign } from 'node:crypto'
import { half, jwkOf, signed } from './hostile-idp.ts'
import type { Json, Lie } from './hostile-idp.ts'

export interface ExpectedLie extends Lie {
  readonly stops: readonly [Step, Check]
}

const now = (): number => Math.floor(Date.now() / 1000)
const claims = (change: Json | ((claims: Json) => Json)): Lie => ({
  claims: (honest) => ({ ...honest, ...(typeof change === 'function' ? change(honest) : change) }),
})
const without = (name: string): Lie => ({
  claims: (honest) => Object.fromEntries(Object.entries(honest).filter(([key]) => key !== name)),
})
const swapCase = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (one) => (/[a-z]/.test(one) ? one.toUpperCase() : one.toLowerCase()))
const header = (change: Json): Lie => ({ header: (honest) => ({ ...honest, ...change }) })

/** Lies in the id_token: its form, header, signature and claims. */
export const tokenLies: Readonly<Record<string, ExpectedLie>> = {
  'signature-stranger': {
    sign: ({ header: head, claims: said }, idp) =>
      signed(head, said, 'RS256', idp.stranger.privateKey),
    stops: ['id_token', 'signature'],
  },
  'signature-altered': {
    sign: ({ header: head, claims: said }, idp) => {
      const [first, , last] = signed(head, said, 'RS256', idp.rsa.privateKey).split('.')
      const other = Buffer.from(JSON.stringify({ ...(said as Json), sub: 'eve' })).toString(
        'base64url',
      )
      return `${first}.${other}.${last}`
    },
    stops: ['id_token', 'signature'],
  },
  'signature-empty': {
    sign: ({ header: head, claims: said }, idp) =>
      signed(head, said, 'RS256', idp.rsa.privateKey).replace(/[^.]+$/, ''),
    stops: ['id_token', 'signature'],
  },
  // Removing two characters leaves whole bytes: 255 of 256.
  'signature-truncated': {
    sign: ({ header: head, claims: said }, idp) =>
      signed(head, said, 'RS256', idp.rsa.privateKey).slice(0, -2),
    stops: ['id_token', 'signature'],
  },
  // CVE-2022-21449: r and s are zero.
  'signature-of-zeros': {
    sign: ({ claims: said }, idp) =>
      signed({ alg: 'ES256', kid: 'ec-1' }, said, 'ES256', idp.ec.privateKey).replace(
        /[^.]+$/,
        Buffer.alloc(64).toString('base64url'),
      ),
    stops: ['id_token', 'signature'],
  },
  'signature-es256-stranger': {
    sign: ({ claims: said }) =>
      signed(
        { alg: 'ES256', kid: 'ec-1' },
        said,
        'ES256',
        generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
      ),
    stops: ['id_token', 'signature'],
  },
  'signature-der': {
    sign: ({ claims: said }, idp) => {
      const [head, claim] = signed(
        { alg: 'ES256', kid: 'ec-1' },
        said,
        'ES256',
        idp.ec.privateKey,
      ).split('.')
      const der = sign('sha256', Buffer.from(`${head}.${claim}`), idp.ec.privateKey)
      return `${head}.${claim}.${der.toString('base64url')}`
    },
    stops: ['id_token', 'signature'],
  },
  // An ES256 signature whose `kid` names an RSA key.
  'algorithm-es256-rsa-key': {
    sign: ({ claims: said }, idp) =>
      signed({ alg: 'ES256', kid: 'rsa-1' }, said, 'ES256', idp.ec.privateKey),
    stops: ['id_token', 'key_unknown'],
  },
  'signature-of-another-token': {
    sign: ({ header: head, claims: said }, idp) => {
      const other = signed(head, { ...(said as Json), nonce: 'x' }, 'RS256', idp.rsa.privateKey)
      return signed(head, said, 'RS256', idp.rsa.privateKey).replace(
        /[^.]+$/,
        other.split('.')[2] ?? '',
      )
    },
    stops: ['id_token', 'signature'],
  },
  'algorithm-none': {
    sign: ({ claims: said }, idp) =>
      signed({ alg: 'none' }, said, 'RS256', idp.rsa.privateKey).replace(/[^.]+$/, ''),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-none-signed': {
    sign: ({ claims: said }, idp) => signed({ alg: 'none' }, said, 'RS256', idp.rsa.privateKey),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-None': {
    sign: ({ claims: said }, idp) => signed({ alg: 'NonE' }, said, 'RS256', idp.rsa.privateKey),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-hs256-secret': {
    sign: ({ claims: said }) => signed({ alg: 'HS256' }, said, 'HS256', 'hostile-secret'),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-hs256-public-key': {
    sign: ({ claims: said }, idp) =>
      signed(
        { alg: 'HS256', kid: 'rsa-1' },
        said,
        'HS256',
        String(idp.rsa.publicKey.export({ type: 'spki', format: 'pem' })),
      ),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-not-announced': {
    sign: ({ claims: said }, idp) =>
      signed({ alg: 'RS512', kid: 'rsa-1' }, said, 'RS512', idp.rsa.privateKey),
    stops: ['id_token', 'algorithm'],
  },
  'algorithm-missing': { header: () => ({ kid: 'rsa-1' }), stops: ['id_token', 'algorithm'] },
  'kid-unknown': { ...header({ kid: 'rsa-9' }), stops: ['id_token', 'key_unknown'] },
  'kid-path': { ...header({ kid: '../../dev/null' }), stops: ['id_token', 'key_unknown'] },
  'kid-number': { ...header({ kid: 1 }), stops: ['id_token', 'header'] },
  'embedded-jwk': {
    sign: ({ claims: said }, idp) =>
      signed(
        { alg: 'RS256', jwk: jwkOf(idp.stranger, undefined) },
        said,
        'RS256',
        idp.stranger.privateKey,
      ),
    stops: ['id_token', 'signature'],
  },
  'embedded-jku': {
    sign: ({ claims: said }, idp) =>
      signed(
        { alg: 'RS256', kid: 'evil', jku: 'http://127.0.0.1:9/jwks' },
        said,
        'RS256',
        idp.stranger.privateKey,
      ),
    stops: ['id_token', 'key_unknown'],
  },
  critical: { ...header({ crit: ['exp'] }), stops: ['id_token', 'critical'] },
  'critical-b64': { ...header({ b64: false, crit: ['b64'] }), stops: ['id_token', 'critical'] },
  'type-access-token': { ...header({ typ: 'at+jwt' }), stops: ['id_token', 'type'] },
  'type-logout-token': { ...header({ typ: 'logout+jwt' }), stops: ['id_token', 'type'] },
  'type-number': { ...header({ typ: 1 }), stops: ['id_token', 'type'] },
  'header-doubled': {
    header: () => '{"alg":"RS256","alg":"none","kid":"rsa-1"}',
    stops: ['id_token', 'claim_duplicate'],
  },
  'header-list': { header: () => '[]', stops: ['id_token', 'header'] },
  'shape-two-parts': { sign: () => 'e30.e30', stops: ['id_token', 'token_shape'] },
  'shape-garbage': { sign: () => 'not a token', stops: ['id_token', 'token_shape'] },
  'shape-padding': {
    sign: ({ header: head, claims: said }, idp) =>
      signed(head, said, 'RS256', idp.rsa.privateKey).replace('.', '=.'),
    stops: ['id_token', 'token_shape'],
  },
  'shape-json': {
    sign: ({ header: head, claims: said }, idp) => {
      const [protect, payload, signature] = signed(head, said, 'RS256', idp.rsa.privateKey).split(
        '.',
      )
      return JSON.stringify({ protected: protect, payload, signature })
    },
    stops: ['id_token', 'token_shape'],
  },
  'shape-space': {
    sign: ({ header: head, claims: said }, idp) =>
      `${signed(head, said, 'RS256', idp.rsa.privateKey)}\n`,
    stops: ['id_token', 'token_shape'],
  },
  'shape-encrypted': { sign: () => 'e30.e30.e30.e30.e30', stops: ['id_token', 'token_encrypted'] },
  'shape-huge': { ...claims({ filler: 'x'.repeat(70_000) }), stops: ['id_token', 'token_size'] },

  'claims-doubled-sub': {
    claims: (honest) => JSON.stringify(honest).replace('{', '{"sub":"eve",'),
    stops: ['id_token', 'claim_duplicate'],
  },
  'claims-list': { claims: () => '[]', stops: ['id_token', 'claims'] },
  'claims-not-json': { claims: () => '{', stops: ['id_token', 'claims'] },
  'iss-other': { ...claims({ iss: 'https://evil.example' }), stops: ['id_token', 'issuer'] },
  'iss-slash': {
    ...claims((honest) => ({ iss: `${String(honest['iss'])}/` })),
    stops: ['id_token', 'issuer'],
  },
  'iss-missing': { ...without('iss'), stops: ['id_token', 'issuer'] },
  'sub-missing': { ...without('sub'), stops: ['id_token', 'subject'] },
  'sub-empty': { ...claims({ sub: '' }), stops: ['id_token', 'subject'] },
  'sub-number': { ...claims({ sub: 7 }), stops: ['id_token', 'subject'] },
  'sub-null': { ...claims({ sub: null }), stops: ['id_token', 'subject'] },
  'sub-long': { ...claims({ sub: 'a'.repeat(256) }), stops: ['id_token', 'subject'] },
  'sub-unicode': { ...claims({ sub: 'аda' }), stops: ['id_token', 'subject'] },
  'sub-control': { ...claims({ sub: 'ada\u0000' }), stops: ['id_token', 'subject'] },
  'iss-list': {
    ...claims((honest) => ({ iss: [honest['iss']] })),
    stops: ['id_token', 'issuer'],
  },
  'iss-http-twin': {
    ...claims((honest) => ({ iss: String(honest['iss']).replace('http:', 'https:') })),
    stops: ['id_token', 'issuer'],
  },
  'aud-null': { ...claims({ aud: null }), stops: ['id_token', 'audience'] },
  'aud-case': {
    ...claims((honest) => ({ aud: String(honest['aud']).toUpperCase() })),
    stops: ['id_token', 'audience'],
  },
  'aud-several-azp-other': {
    ...claims((honest) => ({ aud: [honest['aud'], 'other'], azp: 'other' })),
    stops: ['id_token', 'authorized_party'],
  },
  'azp-number': { ...claims({ azp: 1 }), stops: ['id_token', 'authorized_party'] },
  'aud-other': { ...claims({ aud: 'somebody-else' }), stops: ['id_token', 'audience'] },
  'aud-missing': { ...without('aud'), stops: ['id_token', 'audience'] },
  'aud-empty': { ...claims({ aud: [] }), stops: ['id_token', 'audience'] },
  'aud-mixed': {
    ...claims((honest) => ({ aud: [honest['aud'], 7] })),
    stops: ['id_token', 'audience'],
  },
  'aud-prefix': {
    ...claims((honest) => ({ aud: `${String(honest['aud'])}x` })),
    stops: ['id_token', 'audience'],
  },
  'aud-several': {
    ...claims((honest) => ({ aud: [honest['aud'], 'other'] })),
    stops: ['id_token', 'authorized_party'],
  },
  'azp-other': { ...claims({ azp: 'somebody-else' }), stops: ['id_token', 'authorized_party'] },
  'exp-past': { ...claims(() => ({ exp: now() - 120 })), stops: ['id_token', 'expiry'] },
  'exp-missing': { ...without('exp'), stops: ['id_token', 'expiry'] },
  'exp-text': { ...claims(() => ({ exp: String(now() + 300) })), stops: ['id_token', 'expiry'] },
  'exp-infinite': {
    claims: (honest) => JSON.stringify({ ...honest, exp: 0 }).replace('"exp":0', '"exp":1e999'),
    stops: ['id_token', 'expiry'],
  },
  'exp-before-iat': {
    ...claims(() => ({ exp: now() - 10, iat: now() })),
    stops: ['id_token', 'expiry'],
  },
  'iat-missing': { ...without('iat'), stops: ['id_token', 'issued_at'] },
  'iat-old': { ...claims(() => ({ iat: now() - 86_400 })), stops: ['id_token', 'issued_at'] },
  'iat-future': {
    ...claims(() => ({ iat: now() + 3_600, exp: now() + 7_200 })),
    stops: ['id_token', 'issued_at'],
  },
  'iat-text': { ...claims(() => ({ iat: String(now()) })), stops: ['id_token', 'issued_at'] },
  'iat-milliseconds': {
    ...claims(() => ({ iat: Date.now(), exp: Date.now() + 1e6 })),
    stops: ['id_token', 'issued_at'],
  },
  'nbf-future': { ...claims(() => ({ nbf: now() + 3_600 })), stops: ['id_token', 'not_before'] },
  'nbf-text': { ...claims({ nbf: 'now' }), stops: ['id_token', 'not_before'] },
  'nonce-missing': { ...without('nonce'), stops: ['id_token', 'nonce'] },
  'nonce-other': { ...claims({ nonce: 'replayed' }), stops: ['id_token', 'nonce'] },
  'nonce-empty': { ...claims({ nonce: '' }), stops: ['id_token', 'nonce'] },
  'nonce-case': {
    ...claims((honest) => ({ nonce: swapCase(String(honest['nonce'])) })),
    stops: ['id_token', 'nonce'],
  },
  'exp-zero': { ...claims({ exp: 0 }), stops: ['id_token', 'expiry'] },
  'exp-null': { ...claims({ exp: null }), stops: ['id_token', 'expiry'] },
  'exp-negative': { ...claims({ exp: -1 }), stops: ['id_token', 'expiry'] },
  'iat-null': { ...claims({ iat: null }), stops: ['id_token', 'issued_at'] },
  'nonce-list': {
    ...claims((honest) => ({ nonce: [honest['nonce']] })),
    stops: ['id_token', 'nonce'],
  },
  'at-hash-other': {
    ...claims({ at_hash: half('another token') }),
    stops: ['id_token', 'access_token_hash'],
  },
  'at-hash-number': { ...claims({ at_hash: 1 }), stops: ['id_token', 'access_token_hash'] },
  'c-hash-other': { ...claims({ c_hash: half('another code') }), stops: ['id_token', 'code_hash'] },
  'auth-time-text': {
    ...claims({ auth_time: 'today' }),
    stops: ['id_token', 'authentication_time'],
  },
  'auth-time-future': {
    ...claims(() => ({ auth_time: now() + 3_600 })),
    stops: ['id_token', 'authentication_time'],
  },
}
