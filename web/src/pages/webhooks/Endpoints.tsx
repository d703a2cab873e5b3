export function Endpoints() {
  return <p>Endpoints</p>
}
