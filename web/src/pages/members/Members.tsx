export function Members() {
  return <p>Members</p>
}
