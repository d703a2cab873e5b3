export function Member() {
  return <p>Member</p>
}
