// Generates certificates (RFC 5280, section 4.1) for a test CA and for servers.
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

/** A key pair with its certificate, in PEM. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

export interface TestAuthority {
  readonly cert: string
  /** Issues a server certificate for a name; if `ended`, one that has expired. */
  issue(name: string, ended?: boolean): TestCertificate
}

/** Creates a certificate authority trusted only by those configured to trust it. */
export function authorityForTests(name: string): TestAuthority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signed = (parts: Omit<Parts, 'issuer' | 'signer'>) =>
    certificate({ ...parts, issuer: name, signer: own.privateKey })
  return {
    cert: signed({ subject: name, publicKey: own.publicKey, days: 10, extension: isAuthority }),
    issue(host, ended = false) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const extension = sequence(
        oid(2, 5, 29, 17),
        octets(sequence(tagged(0x82, Buffer.from(host)))),
      )
      return {
        cert: signed({ subject: host, publicKey, days: ended ? -1 : 10, extension }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

interface Parts {
  readonly subject: string
  readonly issuer: string
  readonly publicKey: KeyObject
  readonly signer: KeyObject
  /** How many days from now the certificate expires; negative if it already has. */
  readonly days: number
  readonly extension: Buffer
}

let serial = 1

function certificate({ subject, issuer, publicKey, signer, days, extension }: Parts): string {
  const dayMs = 86_400_000
  const content = sequence(
    tagged(0xa0, integer(2)),
    integer(serial++),
    ecdsaWithSha256,
    nameOf(issuer),
    sequence(time(Date.now() - 10 * dayMs), time(Date.now() + days * dayMs)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(extension)),
  )
  const signature = sign('sha256', content, signer)
  const whole = sequence(content, ecdsaWithSha256, tagged(0x03, Buffer.of(0), signature))
  return `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

// The functions below encode DER (ITU-T X.690): a tag, a length and the content.

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts)
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.of(value))
}

function octets(content: Buffer): Buffer {
  return tagged(0x04, content)
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) =>
    part < 128 ? [part] : part < 16_384 ? [0x80 | (part >> 7), part & 127] : [],
  )
  return tagged(0x06, Buffer.of(first * 40 + second, ...bytes))
}

function nameOf(text: string): Buffer {
  return sequence(tagged(0x31, sequence(oid(2, 5, 4, 3), tagged(0x0c, Buffer.from(text)))))
}

/** Encodes a UTCTime: YYMMDDhhmmssZ. */
function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replaceAll(/\D/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${digits}Z`))
}

const ecdsaWithSha256 = sequence(oid(1, 2, 840, 10_045, 4, 3, 2))
const isAuthority = sequence(
  oid(2, 5, 29, 19),
  tagged(0x01, Buffer.of(0xff)),
  octets(sequence(tagged(0x01, Buffer.of(0xff)))),
)
