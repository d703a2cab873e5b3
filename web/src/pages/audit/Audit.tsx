export function Audit() {
  return <p>Audit</p>
}
