import { isNear } from '../../setting.ts'

/** The known word closest to a misspelled one; undefined if none is close. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  return (
    known.find((word) => isNear(written, word)) ??
    (written.length < 3 ? undefined : known.find((word) => word.startsWith(written)))
  )
}
