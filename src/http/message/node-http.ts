/**
 * `node:http`, loaded without `import`: an import would read every export, including WebSocket, and thereby load Node's
 * own fetch. That would take 14 MB and 25 ms at every start, although hardly anything here uses that fetch.
 */
export const nodeHttp = process.getBuiltinModule('node:http')
