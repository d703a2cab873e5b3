/** Server and lanes, the outbound client with its address guard, problem answers, cookies, limits. */
export * from './outbound/index.ts'
