export function You() {
  return <p>You</p>
}
