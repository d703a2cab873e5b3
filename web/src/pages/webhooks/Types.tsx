export function Types() {
  return <p>Types</p>
}
