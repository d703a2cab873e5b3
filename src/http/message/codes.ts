/** A table of the bytes that belong to a class: 1 for each that does. */
export function codes(isOne: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isOne(code) ? 1 : 0))
}

/** The bytes of a header's name (RFC 9110, section 5.6.2). */
export const tokenCodes = codes((code) =>
  /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code)),
)
