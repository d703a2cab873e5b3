/** Whether a master secret is too short, or has too few different characters, to be random. */
export function isWeakSecret(text: string): boolean {
  return text.length < 32 || new Set(text).size < 10
}
