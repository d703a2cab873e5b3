export function Setup() {
  return <p>Setup</p>
}
