import type { Scheme } from '../../access/index.ts'
import { UsageError } from './command.ts'

/** Parses a key's scheme; throws a `UsageError` for any other word. */
export function parseScheme(text: string): Scheme {
  if (text !== 'x-api-key' && text !== 'bearer') {
    throw new UsageError('--scheme must be x-api-key or bearer')
  }
  return text
}
