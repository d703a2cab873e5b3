// app/hello/route.js of a Next.js application (runtime: nodejs); copy assertion.mjs beside it.
import { createVerifier } from '../assertion.mjs'

export const runtime = 'nodejs'
export const dynamic = 'force-dynamic'

const verifyAssertion = createVerifier({
  issuer: process.env.INTERCEPT_ISSUER,
  audience: process.env.TARGET,
})

export async function GET(request) {
  try {
    const caller = await verifyAssertion(request.headers.get('intercept-assertion'))
    return Response.json({ organization: caller.organization_slug, key: caller.sub })
  } catch {
    return Response.json({ error: 'Calls come through Intercept only.' }, { status: 401 })
  }
}
