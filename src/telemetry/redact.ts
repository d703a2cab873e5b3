import { anyPrefix } from '../credential-formats.ts'

/**
 * Matches secrets that must never appear in a log line: our own credentials by their formats, others by the usual ways
 * of carrying them. It is applied to the finished line, so that fields, messages and errors are all covered.
 */
const secretForms = new RegExp(
  [
    // Our credentials; a hint (prefix, public id, ellipsis, four characters) may stay.
    String.raw`(?<own>${anyPrefix})(?![0-9A-Za-z]{8}_…)(?<id>[0-9A-Za-z]{8}_)?[0-9A-Za-z_+/=-]{4,}`,
    // A JWT: header, payload, signature.
    String.raw`(?<jwt>eyJ)[\w-]{8,}\.[\w-]+\.[\w-]*`,
    String.raw`(?<header>\b(?:Bearer|Basic) )[\w+/=.~-]{8,}`,
    String.raw`(?<cookie>__Host-[\w-]+=)[^;\s"\\]+`,
    String.raw`(?<password>:\/\/[^\s:@/"\\]{1,256}:)[^\s@/"\\]+(?=@)`,
    String.raw`(?<query>[?&](?:code|state|access_token|id_token|refresh_token|client_secret|password)=)[^&\s"\\]+`,
    String.raw`(?<github>\bgh[opsu]_)[0-9A-Za-z]{20,}`,
  ].join('|'),
  'gi',
)

/** Characters that JSON does not escape but terminals and line readers interpret: DEL, C1, line separators. */
const obeyedByReaders = /[\u007F-\u009F\u2028\u2029]/g

/** Masks what `secretForms` matches, and escapes characters that could forge another line. */
export function redact(line: string): string {
  return line
    .replace(secretForms, (...found: unknown[]) => {
      const groups = found.at(-1) as Record<string, string | undefined>
      return `${Object.values(groups).filter(Boolean).join('')}…`
    })
    .replace(obeyedByReaders, (character) => {
      return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
}
