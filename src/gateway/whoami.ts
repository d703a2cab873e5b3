import { schemes, type KeyDescription, type KeyPrincipal } from '../access/index.ts'
import { Problem } from '../errors.ts'
import type { Exchange } from '../http/index.ts'
import { reachable, type TargetsBySlug } from '../targets/index.ts'
import type { Call } from './call.ts'

/** Throws 405 unless the method is GET or HEAD. */
export function checkReading(exchange: Exchange): void {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD') {
    throw new Problem('method_not_allowed', 'This address answers GET.', {
      headers: { Allow: 'GET, HEAD' },
    })
  }
}

export function answerWhoAmI(
  call: Call,
  known: {
    principal: KeyPrincipal
    description: KeyDescription
    targets: TargetsBySlug
    baseUrl: string
    prefix: string
  },
): void {
  const { principal, description, targets, baseUrl, prefix } = known
  answerJson(call, {
    organization: { id: principal.organizationId, slug: principal.organizationSlug },
    key: {
      id: principal.keyId,
      name: description.name,
      hint: description.hint,
      scheme: principal.scheme,
      header: schemes[principal.scheme].header,
      grants: principal.grants ?? null,
      cidrs: principal.cidrs ?? null,
      expires_at:
        principal.expiresAt === undefined ? null : new Date(principal.expiresAt).toISOString(),
    },
    targets: reachable(targets, principal).map(({ target, methods }) => ({
      slug: target.slug,
      name: target.name,
      url: `${baseUrl}${prefix}/${target.slug}/`,
      methods: methods ?? null,
      disabled: target.disabled,
    })),
  })
}

function answerJson(call: Call, value: unknown): void {
  // The form in which responses are written: one latin1 character per byte.
  const body = Buffer.from(JSON.stringify(value)).toString('latin1')
  call.status = 200
  call.exchange.answer(
    200,
    [
      'Content-Type',
      'application/json',
      'Content-Length',
      String(body.length),
      'Cache-Control',
      'no-store',
      ...call.ownHeaders,
    ],
    body,
  )
}
