/**
 * Renders a value as JSON in ASCII, so that its length is its length in bytes and readers need not guess an encoding.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Whether a text is the same in ASCII JSON as it is, apart from the quotes around it. Most texts are. */
export function isPlainInJson(text: string): boolean {
  return !/[^\x20\x21\x23-\x5b\x5d-\x7e]/.test(text)
}

/** Renders a text like `asciiJson`; a plain one costs only a test. */
export function asciiJsonText(text: string): string {
  return isPlainInJson(text) ? `"${text}"` : asciiJson(text)
}
