export function TargetPage() {
  return <p>TargetPage</p>
}
