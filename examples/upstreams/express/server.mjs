// npm install express; INTERCEPT_ISSUER=https://api.example.com TARGET=orders node server.mjs
import express from 'express'
import { createVerifier } from '../assertion.mjs'

const verifyAssertion = createVerifier({
  issuer: process.env.INTERCEPT_ISSUER,
  audience: process.env.TARGET,
})
const app = express()

app.use(async (request, response, next) => {
  try {
    request.caller = await verifyAssertion(request.get('intercept-assertion'))
    next()
  } catch {
    response.status(401).json({ error: 'Calls come through Intercept only.' })
  }
})

app.get('/hello', (request, response) => {
  response.json({ organization: request.caller.organization_slug, key: request.caller.sub })
})

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening at ${server.address().port}`)
})
