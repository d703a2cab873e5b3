/** Decides whether a trace is reported, as the OpenTelemetry setting OTEL_TRACES_SAMPLER specifies. */
export type Sampler = (traceId: string, parentIsSampled: boolean | undefined) => boolean

const names = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof names)[number]
export const samplerNames: readonly SamplerName[] = names

/** Creates the sampler with this name; `ratio` is the fraction of traces that traceidratio reports. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const decide = (traceId: string): boolean => {
    if (name.endsWith('always_on')) return true
    if (name.endsWith('always_off')) return false
    // All nodes make the same decision for a trace, because it depends only on the trace's id. The id's last 56 bits are
    // random (W3C Trace Context, level 2).
    return Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56
  }
  if (!name.startsWith('parentbased_')) return decide
  return (traceId, parentIsSampled) => parentIsSampled ?? decide(traceId)
}
