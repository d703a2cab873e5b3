export function SignIn() {
  return <p>SignIn</p>
}
