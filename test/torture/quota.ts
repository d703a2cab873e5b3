import { wait } from './torture.ts'

/**
 * Calls `pass` from 24 clients until each has been refused 20 times in a row, or until more than `calls` tries have
 * succeeded. Returns the number of successes.
 */
export async function useUp(
  calls: number,
  pass: (call: number) => Promise<boolean>,
): Promise<number> {
  let passed = 0
  let call = 0
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      // Another process may return its unused share late, so each client keeps trying for a while.
      for (let refused = 0; refused < 20 && passed <= calls;) {
        if (await pass(call++)) {
          passed += 1
          refused = 0
        } else {
          refused += 1
          await wait(100)
        }
      }
    }),
  )
  return passed
}
