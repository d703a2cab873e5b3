/**
 * Runs a task again and again, the first time after one interval; never twice at once. A task that fails is
 * reported and tried again at the next turn. Closing waits for the task that is under way.
 */
export function every(
  intervalMs: number,
  task: () => Promise<unknown>,
  onError: (error: unknown) => void,
): AsyncDisposable {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= turn()
  }, intervalMs).unref()

  async function turn(): Promise<void> {
    try {
      await task()
    } catch (error) {
      onError(error)
    } finally {
      running = undefined
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}
