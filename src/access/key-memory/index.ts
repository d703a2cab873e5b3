/** The principals of keys, and a memory that holds millions of them in typed arrays. */
export { KeyMemory } from './key-memory.ts'
export {
  keyPrincipal,
  type KeyPrincipal,
  type KeyShape,
  type KnownKey,
  type OrganizationPart,
} from './principal.ts'
