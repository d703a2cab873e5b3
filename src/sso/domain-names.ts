import { domainToASCII } from 'node:url'
import { Problem } from '../errors.ts'
import { isPublicMailDomain } from './public-mail-domains.ts'

/** A mail address and its domain, the latter in the canonical form of `parseDomain`. */
export interface MailAddress {
  readonly address: string
  readonly domain: string
}

/**
 * Parses a domain name into ASCII (IDNA), lower case, without a trailing dot. Throws `domain_invalid`, or
 * `domain_public` for public mail providers.
 */
export function parseDomain(text: string): string {
  const name = asciiName(text)
  if (name === undefined) {
    throw new Problem(
      'domain_invalid',
      'A domain looks like example.com: no address, no URL, no wildcard.',
    )
  }
  if (isPublicMailDomain(name)) {
    throw new Problem(
      'domain_public',
      `${name} gives addresses to anybody; it belongs to no organization.`,
    )
  }
  return name
}

/** Parses an e-mail address; undefined unless it is a plain `local@domain` without quoting or comments. */
export function parseMailAddress(text: unknown): MailAddress | undefined {
  if (typeof text !== 'string' || text.length > 254) return undefined
  const parts = text.split('@')
  const [local, host] = parts
  if (parts.length !== 2 || local === undefined || host === undefined) return undefined
  if (!/^[^\s"(),:;<>[\\\]\p{C}]{1,64}$/u.test(local)) return undefined
  const domain = asciiName(host)
  return domain === undefined ? undefined : { address: `${local}@${domain}`, domain }
}

function asciiName(text: string): string | undefined {
  const plain = text.trim().replace(/\.$/, '')
  // Refuses full-width and other dots, which IDNA would silently turn into plain ones.
  if (plain === '' || plain.length > 253 || /[\s/@:*_%?#[\]\\。．｡]/.test(plain)) return undefined
  const name = domainToASCII(plain)
  const labels = name.split('.')
  const shape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
  if (name.length > 253 || labels.length < 2 || !labels.every((label) => shape.test(label))) {
    return undefined
  }
  // A numeric last label means an IP address literal.
  return /^\d+$/.test(labels.at(-1) ?? '') ? undefined : name
}
