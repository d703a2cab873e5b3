/** Builds a look-up table over all byte values: 1 for each that `isOne` accepts, 0 for the others. */
export function codes(isOne: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (isOne(code) ? 1 : 0))
}

/** Whether a byte may be part of a header name (a token of RFC 9110, section 5.6.2). */
export function isTokenCode(code: number): boolean {
  return /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code))
}
