export function Calls() {
  return <p>Calls</p>
}
