export function Deliveries() {
  return <p>Deliveries</p>
}
