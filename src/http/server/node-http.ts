/**
 * `node:http` as CommonJS sees it. An `import` of it reads every export, WebSocket among them, and with that loads Node's
 * own fetch: 18 MB that nobody here uses.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
