/**
 * Runs a task repeatedly, first after one interval and never concurrently. A failing task is reported and retried at
 * the next interval. Closing waits for a running task.
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
