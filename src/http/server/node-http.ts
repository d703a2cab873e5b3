/**
 * `node:http`, loaded without `import`: an import would read every export, including WebSocket, and thereby load Node's
 * own fetch, 18 MB that nothing here uses.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
