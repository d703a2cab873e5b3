/** The schema library for requests and responses; only this folder imports it. */
export { Type, type Static, type TSchema } from 'typebox'
