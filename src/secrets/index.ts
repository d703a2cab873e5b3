/** Mint, digest, seal, sign, compare: the only room that touches keys. */
export { Secret } from './secret.ts'
export {
  checksum,
  checksumHolds,
  credentialLength,
  credentialLookup,
  hintOf,
  mintCredential,
  randomBase62,
  type Minted,
} from './mint.ts'
export { digest, digestBase64url, hmac, randomHex, randomToken, sameSecret } from './digest.ts'
export { createSealer, type Sealer } from './seal.ts'
export { loadMasterSecrets } from './master-key.ts'
export {
  loadSigner,
  mintSigningKeyPair,
  signToken,
  verifyToken,
  type Claims,
  type Signer,
  type SigningKeyPair,
  type TokenExpectation,
} from './tokens.ts'
export {
  halfHash,
  mintClientKey,
  signatureAlgorithms,
  signClientAssertion,
  verifyJws,
  type PublicJwk,
  type SignatureAlgorithm,
} from './jws.ts'
export {
  createWebhookKeySigner,
  createWebhookSigner,
  isWebhookSecret,
  mintWebhookKeyPair,
  mintWebhookSecret,
  webhookSecret,
  type WebhookSigner,
} from './webhook.ts'
