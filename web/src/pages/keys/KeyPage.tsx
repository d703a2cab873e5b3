export function KeyPage() {
  return <p>KeyPage</p>
}
