/**
 * Puts the text of a visible node on the clipboard; without a secure context it selects that node itself,
 * because a hidden textarea loses the focus to a dialog's trap. When both ways fail the text stays selected.
 */
export async function copyText(text: string, visible: HTMLElement | null): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // Refused by the browser or by a policy: the old way may still work.
    }
  }
  if (visible === null) return false
  const selection = window.getSelection()
  selection?.selectAllChildren(visible)
  const copied = document.execCommand('copy')
  if (copied) selection?.removeAllRanges()
  return copied
}
