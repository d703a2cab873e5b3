/** The principals of API keys, and the memory that holds millions of them in typed arrays. */
export { KeyMemory } from './key-memory.ts'
export {
  keyPrincipal,
  type KeyPrincipal,
  type KeyShape,
  type KnownKey,
  type OrganizationPart,
} from './principal.ts'
