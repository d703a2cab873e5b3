import { words } from '../../words/en.ts'

/** `selected` means that copying failed: the text is selected, so that the person can copy it. */
export type Outcome = 'idle' | 'copied' | 'selected'

export function copyLabel(outcome: Outcome, idle: string): string {
  return outcome === 'copied' ? words.copied : outcome === 'selected' ? words.copySelected : idle
}

/**
 * Copies a text to the clipboard, and returns whether that succeeded. Without a secure context, or if the browser
 * refuses, it selects the `visible` node, which shows the text, and has the browser copy it; a hidden textarea would
 * lose the focus to a dialog's focus trap. If that fails too, the node stays selected.
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
  const copied = copySelection(text)
  if (copied) selection?.removeAllRanges()
  return copied
}

/** Has the browser copy `text` instead of the selection, which may show it shortened or in another form. */
function copySelection(text: string): boolean {
  function put(event: ClipboardEvent) {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', put)
  try {
    return document.execCommand('copy')
  } finally {
    document.removeEventListener('copy', put)
  }
}
