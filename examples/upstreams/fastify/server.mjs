// npm install fastify; INTERCEPT_ISSUER=https://api.example.com TARGET=orders node server.mjs
import Fastify from 'fastify'
import { createVerifier } from '../assertion.mjs'

const verifyAssertion = createVerifier({
  issuer: process.env.INTERCEPT_ISSUER,
  audience: process.env.TARGET,
})
const app = Fastify()

app.decorateRequest('caller', null)
app.addHook('onRequest', async (request, reply) => {
  try {
    request.caller = await verifyAssertion(request.headers['intercept-assertion'])
  } catch {
    return reply.code(401).send({ error: 'Calls come through Intercept only.' })
  }
})

app.get('/hello', async ({ caller }) => ({
  organization: caller.organization_slug,
  key: caller.sub,
}))

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`listening at ${app.server.address().port}`)
