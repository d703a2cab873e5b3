import type { ResolveTxt, TxtAnswer } from '../http/index.ts'

/** The result of a DNS lookup; `sentence` explains it to a person. */
export interface DnsFinding {
  readonly kind:
    | 'verified'
    | 'nothing'
    | 'other_value'
    | 'zone_appended'
    | 'at_the_domain'
    | 'dns_failed'
  readonly sentence: string
  /** The name that was looked up. */
  readonly name: string
  /** Up to five other values at that name, each cut to 120 characters. */
  readonly values?: readonly string[]
}

const label = '_intercept-challenge'
const valuesShown = 5
const valueShownLength = 120

/** Returns the TXT record that proves a domain. */
export function challengeRecord(domain: { name: string; challenge: string }) {
  return {
    type: 'TXT',
    name: `${label}.${domain.name}`,
    /** The name to enter in a DNS panel that appends the zone itself. */
    relativeName: label,
    value: domain.challenge,
  } as const
}

/** Looks the record up; if it is missing, also looks in the places where people put it by mistake. */
export async function lookForChallenge(
  domain: { name: string; challenge: string },
  resolve: ResolveTxt,
): Promise<DnsFinding> {
  const { name, value } = challengeRecord(domain)
  const answer = await resolve(name)
  if (holds(answer, value)) {
    return { kind: 'verified', name, sentence: `${name} holds the value.` }
  }
  if (answer.kind === 'failed') {
    return {
      kind: 'dns_failed',
      name,
      sentence: `The DNS did not answer for ${name} (${answer.code}). It is asked again by itself.`,
    }
  }
  return (await misplaced(domain, resolve)) ?? missing(name, answer)
}

async function misplaced(
  domain: { name: string; challenge: string },
  resolve: ResolveTxt,
): Promise<DnsFinding | undefined> {
  const { name, value } = challengeRecord(domain)
  const appended = `${name}.${domain.name}`
  if (holds(await resolve(appended), value)) {
    return {
      kind: 'zone_appended',
      name,
      sentence: `There is no TXT record at ${name}; there is one at ${appended}: your DNS panel added the zone. Enter ${label} alone as its name.`,
    }
  }
  if (holds(await resolve(domain.name), value)) {
    return {
      kind: 'at_the_domain',
      name,
      sentence: `The value is at ${domain.name} itself; it belongs at ${name}.`,
    }
  }
  return undefined
}

function missing(name: string, answer: TxtAnswer): DnsFinding {
  if (answer.kind !== 'records' || answer.texts.length === 0) {
    return { kind: 'nothing', name, sentence: `There is no TXT record at ${name}.` }
  }
  return {
    kind: 'other_value',
    name,
    sentence: `There is a TXT record at ${name}, but it does not hold the value.`,
    values: answer.texts
      .slice(0, valuesShown)
      .map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, valueShownLength)),
  }
}

function holds(answer: TxtAnswer, value: string): boolean {
  // Some DNS panels keep quotation marks that people enter around the value.
  return (
    answer.kind === 'records' &&
    answer.texts.some((text) => text.trim().replace(/^"(.*)"$/, '$1') === value)
  )
}
