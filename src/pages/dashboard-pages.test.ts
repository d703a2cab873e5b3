import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { App } from '../http/index.ts'
import { addPages } from './dashboard-pages.ts'

interface Reply {
  status: number
  body: string
}

test('a dashboard that another process was replacing at our start is served once it is there', async () => {
  const webFolder = mkdtempSync(join(tmpdir(), 'intercept-pages-'))
  try {
    const ask = pagesOf(webFolder)
    // Waits until the background check for an outdated build has ended; the folder is empty, so nothing is built.
    while ((await ask('/')).body.includes('being built')) await setImmediate()
    assert.equal((await ask('/')).status, 503)
    mkdirSync(join(webFolder, 'dist'))
    writeFileSync(join(webFolder, 'dist', 'index.html'), 'the shell')
    assert.deepEqual(await ask('/'), { status: 200, body: 'the shell' })
  } finally {
    rmSync(webFolder, { recursive: true })
  }
})

/** Registers a folder's pages without a server; the returned function requests one of them. */
function pagesOf(webFolder: string): (address: string) => Promise<Reply> {
  const handlers = new Map<string, (request: object, reply: object) => Promise<unknown>>()
  const app = { get: (address: string, handle: never) => void handlers.set(address, handle) }
  const log = { info: () => undefined, error: () => undefined }
  addPages(app as unknown as App, { webFolder, log, baseUrl: 'http://localhost:8080' })
  return async (address) => {
    const answered: Reply = { status: 200, body: '' }
    const reply = {
      headers: () => reply,
      header: () => reply,
      type: () => reply,
      code: (status: number) => {
        answered.status = status
        return reply
      },
      send: (body: string | Buffer) => {
        answered.body = body.toString()
        return reply
      },
    }
    await handlers.get(address)?.({ url: address, headers: {} }, reply)
    return answered
  }
}
