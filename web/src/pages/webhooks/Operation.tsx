export function Operation() {
  return <p>Operation</p>
}
