/** Remembers keys that are in use, in typed arrays. */
export { KeyMemory } from './key-memory.ts'
