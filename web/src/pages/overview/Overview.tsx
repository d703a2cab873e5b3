export function Overview() {
  return <p>Overview</p>
}
