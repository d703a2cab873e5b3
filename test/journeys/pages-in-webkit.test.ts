// Opens the pages in pages.ts in WebKit, if it is installed; npm installs only Chromium.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { portForTests } from '../harness/ports.ts'
import { authorityForTests } from '../harness/certificate.ts'
import { furnishedForTests } from '../harness/furnished.ts'
import { hasWebkit, startWebkit } from '../harness/webkit.ts'

const why = 'needs webkit2gtk-driver and xvfb, which npm does not bring'
const isWhole =
  'return document.querySelector("h1") !== null && document.querySelector("[data-loading]") === null'

test(
  `the sign-in link and every page work in WebKit and fit the window${hasWebkit ? '' : ` (skipped: ${why})`}`,
  { skip: hasWebkit ? false : why, timeout: 240_000 },
  async () => {
    await using product = await furnishedForTests()
    await using webkit = await startWebkit()
    await webkit.open(product.baseUrl + (await product.signInPath()))
    await webkit.until('return document.body.innerText.includes("Safari keeps it only over https")')
    await using front = await tlsFront()
    front.forwardTo(await product.moveTo(front.baseUrl))
    await webkit.open(front.baseUrl + (await product.signInPath()))
    await webkit.until('return location.pathname.startsWith("/o/")')
    for (const width of [1360, 500]) {
      await webkit.resize(width, 844)
      for (const [name, address] of product.addresses) {
        await webkit.open(front.baseUrl + address)
        await webkit.until(isWhole)
        const over = await webkit.run('return document.documentElement.scrollWidth - innerWidth')
        assert.ok(Number(over) <= 0, `${name} is ${String(over)} px wider than ${width} px`)
      }
    }
  },
)

/** Starts a server that terminates TLS and forwards the bytes, because WebKit keeps Secure cookies only over https. */
async function tlsFront() {
  const port = await portForTests()
  let target = 0
  const { key, cert } = authorityForTests('webkit').issue('localhost')
  const server = createServer({ key, cert }, (socket) => {
    const inside = connect(target, '127.0.0.1')
    socket.pipe(inside).pipe(socket)
    socket.on('error', () => inside.destroy())
    inside.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    baseUrl: `https://localhost:${port}`,
    forwardTo: (inner: number) => void (target = inner),
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}
