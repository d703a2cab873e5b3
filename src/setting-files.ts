/** Settings read from files, as Docker, Kubernetes and systemd mount secrets. */
import { readFileSync, statSync } from 'node:fs'

/** Reads a small text file; tests pass their own. */
export type ReadFile = (path: string) => string

/**
 * Returns the secret in a file, without whitespace around it, such as the line break that editors and `echo` add.
 * Throws an Error whose message completes the sentence "NAME …".
 */
export function textOfFile(path: string, readFile: ReadFile): string {
  let text: string
  try {
    text = readFile(path).trim()
  } catch (error) {
    throw new Error(`cannot be read from ${path}: ${reasonOf(error)}`, { cause: error })
  }
  if (text === '') throw new Error(`cannot be read from ${path}: the file is empty`)
  return text
}

function reasonOf(error: unknown): string {
  const code = (error as { code?: unknown }).code
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read it'
  if (code === 'EISDIR') return 'it is a folder'
  return error instanceof Error ? error.message : 'it cannot be read'
}

const maxSecretFileBytes = 64 * 1024

/** Reads a secret's file; throws if the file is missing or larger than 64 KiB. */
export function readSecretFile(path: string): string {
  const { size } = statSync(path)
  if (size > maxSecretFileBytes) throw new Error(`it is larger than ${maxSecretFileBytes} bytes`)
  return readFileSync(path, 'utf8')
}
