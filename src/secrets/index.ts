/** The product's cryptography: mints, digests, seals, signs and compares. */
export { Secret } from './secret.ts'
export {
  checksumHolds,
  credentialLength,
  credentialLookup,
  hintOf,
  mintCredential,
  randomBase62,
} from './mint.ts'
export {
  digest,
  digestBase64url,
  digestBytes,
  digestFromHex,
  digestToHex,
  randomHex,
  randomToken,
  sameSecret,
} from './digest.ts'
export type { DigestBytes } from '../credential-formats.ts'
export { createSealer, sealerWithoutKey, type Authenticator, type Sealer } from './seal.ts'
export { loadMasterSecrets, loadMasterSecretsFor, MissingMasterKey } from './master-key.ts'
export { loadSigner, mintSigningKeyPair, signToken, verifyToken, type Signer } from './tokens.ts'
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
} from './webhook.ts'
