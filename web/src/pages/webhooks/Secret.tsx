export function Secret() {
  return <p>Secret</p>
}
