/** Schemas of requests and responses; only this folder imports the library. */
export { Type, type Static, type TSchema } from 'typebox'
