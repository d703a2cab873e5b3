/**
 * Copies a text to the clipboard, and returns whether that succeeded. Without a secure context, or if the browser
 * refuses, it selects and copies the `visible` node instead; a hidden textarea would lose the focus to a dialog's focus
 * trap. If that fails too, the node stays selected.
 */
export async function copyText(text: string, visible: HTMLElement | null): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text)
      return true
    } catch {
      // The browser or a policy refused; copying the selected node may still work.
    }
  }
  if (visible === null) return false
  const selection = window.getSelection()
  selection?.selectAllChildren(visible)
  const copied = document.execCommand('copy')
  if (copied) selection?.removeAllRanges()
  return copied
}
