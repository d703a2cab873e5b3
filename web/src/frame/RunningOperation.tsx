export function RunningOperation() {
  return undefined
}
