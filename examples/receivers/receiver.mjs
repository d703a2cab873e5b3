// WEBHOOK_SECRET=svc_whsec_… node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const key = Buffer.from(process.env.WEBHOOK_SECRET.slice('svc_whsec_'.length), 'base64')
const seen = new Set()

/** Whether the raw body was signed by us within five minutes. */
function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' } = headers
  if (Math.abs(Date.now() / 1000 - Number(at)) > 300) return false
  const expected = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest()
  return given.split(' ').some((one) => {
    const signature = Buffer.from(one.replace(/^v1,/, ''), 'base64')
    return signature.length === expected.length && timingSafeEqual(signature, expected)
  })
}

const server = createServer(async (request, response) => {
  const body = await buffer(request)
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
  const event = JSON.parse(body)
  // A delivery may come twice; its id stays the same.
  if (!seen.has(event.id)) console.log(`${event.type} ${event.id}`)
  seen.add(event.id)
  response.writeHead(204).end()
})
server.listen(process.env.PORT ?? 9000, '127.0.0.1', () => {
  console.log(`listening at ${server.address().port}`)
})
