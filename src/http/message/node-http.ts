/**
 * `node:http`, loaded without `import`: an import would read every export, including WebSocket, and thereby load Node's
 * own fetch: 14 MB and 25 ms at every start, for something that nothing here uses.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
