const atOnce = 4

/** Runs a function for each item, four at a time; a failure does not stop the others. */
export async function inTurns<Item>(
  items: readonly Item[],
  each: (item: Item) => Promise<unknown>,
): Promise<{ readonly done: number; readonly failures: readonly unknown[] }> {
  const waiting = [...items]
  const failures: unknown[] = []
  let done = 0
  async function work(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await each(item)
        done++
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { done, failures }
}
