export function Welcome() {
  return <p>Welcome</p>
}
