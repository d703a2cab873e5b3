import type { Infrastructure } from './infrastructure.ts'
import { measureRequests } from './measure.ts'
import type { RequestEnd } from '../http/index.ts'
import { isSampled, type Span, type Tracer } from '../telemetry/index.ts'

/**
 * Returns a function that reports a finished request outside the gateway: in metrics, the access log, a span, and a
 * debug line of the log.
 */
export function reportRequests(
  services: Pick<
    Infrastructure,
    'metrics' | 'accessLog' | 'tracer' | 'addressOf' | 'clock' | 'log'
  >,
): (end: RequestEnd) => void {
  const { metrics, accessLog, tracer, addressOf, clock, log } = services
  const measure = measureRequests(metrics)
  return (end) => {
    measure(end)
    const { area, method, path, status, refusal, tookMs, request } = end
    const said = { area, method, path, status, refused: refusal }
    log.debug({ ...said, ms: Math.round(tookMs), request_id: request.id }, 'a request ended')
    accessLog?.add({
      time: new Date(clock.now() - tookMs).toISOString(),
      ...said,
      duration_ms: Math.round(tookMs * 1000) / 1000,
      address: addressOf(request),
      agent: request.headers['user-agent'],
      request_id: request.id,
    })
    // Requests for pages and probes get no spans, because such spans would only be noise.
    if (tracer !== undefined && area !== 'pages') addSpan(tracer, end, clock.now())
  }
}

function addSpan(tracer: Tracer, end: RequestEnd, nowMs: number): void {
  const { area, method, route, path, status, refusal, tookMs, request } = end
  const traceparent = request.headers['traceparent']
  const place = tracer.place(typeof traceparent === 'string' ? traceparent : undefined)
  if (!isSampled(place.flags)) return
  const span: Span = {
    ...place,
    kind: 'server',
    name: `${method} ${route}`,
    startedAt: nowMs - tookMs,
    durationUs: Math.round(tookMs * 1000),
    isError: status >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'url.path': path,
      'intercept.area': area,
      'intercept.request_id': request.id,
      'intercept.refused': refusal,
    },
  }
  tracer.add(span)
}
