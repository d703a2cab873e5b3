export function Targets() {
  return <p>Targets</p>
}
