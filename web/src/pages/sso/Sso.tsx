export function Sso() {
  return <p>Sso</p>
}
