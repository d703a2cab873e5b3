/** Whether every database can store a text: PostgreSQL refuses U+0000, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/** Returns the text with U+FFFD in place of what not every database can store, for logs of what others wrote. */
export function toStorable(text: string): string {
  return isStorable(text) ? text : text.toWellFormed().replaceAll('\u0000', '\ufffd')
}
