/** The schema library for requests and responses; no other file imports it directly. */
export { Type, type Static, type TSchema } from 'typebox'
