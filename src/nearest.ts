/**
 * Finds a known word that `written` probably means: the first that is near it or, if `written` has at least three
 * letters, the first that begins with it; undefined if there is none.
 */
export function nearest(written: string, known: readonly string[]): string | undefined {
  return (
    known.find((word) => isNear(written, word)) ??
    (written.length < 3 ? undefined : known.find((word) => word.startsWith(written)))
  )
}

/**
 * Whether a written name probably means another one: it differs by at most two letters that are omitted, added, changed
 * or swapped, and in a short name by at most one.
 */
export function isNear(written: string, meant: string): boolean {
  const most = meant.length < 8 ? 1 : 2
  if (Math.abs(written.length - meant.length) > most) return false
  // Optimal string alignment distance, row by row; `earlier` is the row before last, needed for swaps.
  let earlier: number[] = []
  let above = Array.from({ length: meant.length + 1 }, (_, at) => at)
  for (let i = 1; i <= written.length; i++) {
    const row = [i]
    for (let j = 1; j <= meant.length; j++) {
      const isSame = written[i - 1] === meant[j - 1]
      const isSwap = written[i - 1] === meant[j - 2] && written[i - 2] === meant[j - 1]
      row[j] = Math.min(
        (above[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (above[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap && i > 1 && j > 1 ? (earlier[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    // Once two consecutive rows exceed the limit, no later one can be below it (a swap skips one row).
    if (Math.min(...row) > most && Math.min(...above) > most) return false
    earlier = above
    above = row
  }
  return (above[meant.length] ?? Infinity) <= most
}
