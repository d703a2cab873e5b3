export function Keys() {
  return <p>Keys</p>
}
