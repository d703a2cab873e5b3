export function EndpointPage() {
  return <p>EndpointPage</p>
}
