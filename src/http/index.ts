/** Server and lanes, the outbound client with its address guard, problem answers, cookies, limits. */
export * from './outbound/index.ts'
export { answerWith, createApp, type App } from './app.ts'
export { createFront, requestIdOf, type Front, type FrontLimits } from './front.ts'
export { freePort } from './free-port.ts'
export { renderProblem } from './problem.ts'
