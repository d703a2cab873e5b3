/** Schemas of what goes in and out; this room keeps the library. */
export { Type, type Static, type TSchema } from 'typebox'
