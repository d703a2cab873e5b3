export function Invitation() {
  return <p>Invitation</p>
}
